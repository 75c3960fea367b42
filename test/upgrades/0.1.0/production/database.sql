SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.ended_upload_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.garbage_bytes WHERE user_id = OLD.user_id; RETURN NULL; END $$;
CREATE FUNCTION public.garbage_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes + NEW.bytes WHERE user_id = NEW.user_id; RETURN NULL; END $$;
CREATE FUNCTION public.garbage_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.bytes WHERE user_id = OLD.user_id; RETURN NULL; END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.access_tokens (
    sha256 text NOT NULL COLLATE pg_catalog."C",
    token_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    scope text,
    device_id text,
    parent_id text
);
CREATE TABLE public.changes (
    user_id text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    type text NOT NULL,
    at bigint NOT NULL,
    previous_at bigint NOT NULL,
    name text COLLATE pg_catalog."C",
    version text COLLATE pg_catalog."C",
    size bigint,
    sha256 text,
    visibility text,
    previous_name text COLLATE pg_catalog."C",
    capacity bigint,
    used bigint
);
CREATE TABLE public.chores (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL,
    lease_until bigint NOT NULL
);
CREATE TABLE public.files (
    user_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    object_key text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sha256 text NOT NULL,
    visibility text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint DEFAULT '9007199254740991'::bigint NOT NULL,
    is_kept bigint DEFAULT 0 NOT NULL,
    media_type text,
    metadata text,
    CONSTRAINT files_size_check CHECK ((size >= 0)),
    CONSTRAINT files_visibility_check CHECK ((visibility = ANY (ARRAY['private'::text, 'users'::text, 'public'::text])))
);
CREATE TABLE public.garbage (
    object_key text NOT NULL COLLATE pg_catalog."C",
    not_before bigint NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    user_id text COLLATE pg_catalog."C"
);
CREATE TABLE public.grants (
    user_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL,
    model text,
    starts_at bigint,
    ends_at bigint,
    created_at bigint NOT NULL,
    revoked_at bigint,
    CONSTRAINT grants_bytes_check CHECK ((bytes >= 0))
);
CREATE TABLE public.history (
    version text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    object_key text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sha256 text NOT NULL,
    visibility text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    ended_as text NOT NULL,
    is_marked bigint DEFAULT 0 NOT NULL,
    media_type text,
    metadata text
);
CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.links (
    sha256 text NOT NULL COLLATE pg_catalog."C",
    link_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    token_id text NOT NULL,
    device_id text,
    kind text NOT NULL,
    name text,
    prefix text,
    label text NOT NULL,
    password_hash text,
    max_uses bigint,
    uses bigint DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
);
CREATE TABLE public.parked_webhooks (
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    attempts bigint NOT NULL,
    reason text NOT NULL,
    parked_at bigint NOT NULL
);
CREATE TABLE public.quotas (
    user_id text NOT NULL COLLATE pg_catalog."C",
    used_bytes bigint NOT NULL,
    reserved_bytes bigint NOT NULL,
    file_count bigint NOT NULL,
    garbage_bytes bigint DEFAULT 0 NOT NULL,
    change_count bigint DEFAULT 0 NOT NULL,
    changed_at bigint DEFAULT 0 NOT NULL,
    previously_changed_at bigint DEFAULT 0 NOT NULL,
    capacity_state text,
    history_bytes bigint DEFAULT 0 NOT NULL,
    history_count bigint DEFAULT 0 NOT NULL,
    history_excess bigint DEFAULT 0 NOT NULL,
    CONSTRAINT quotas_file_count_check CHECK ((file_count >= 0)),
    CONSTRAINT quotas_reserved_bytes_check CHECK ((reserved_bytes >= 0)),
    CONSTRAINT quotas_used_bytes_check CHECK ((used_bytes >= 0))
);
CREATE TABLE public.resumable_uploads (
    version text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    length_bytes bigint,
    announced_bytes bigint NOT NULL,
    received_bytes bigint DEFAULT 0 NOT NULL,
    part_size bigint NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    holder text,
    holder_until bigint DEFAULT 0 NOT NULL,
    stop_asked bigint DEFAULT 0 NOT NULL,
    tail_key text COLLATE pg_catalog."C",
    store_state text DEFAULT '{}'::text NOT NULL,
    metadata text NOT NULL,
    visibility text,
    precondition text,
    expected_sha256 text,
    sha256 text,
    sealed_at bigint,
    refusal text,
    ended_as text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    link_id text,
    evict text,
    expires_in bigint,
    CONSTRAINT resumable_uploads_announced_bytes_check CHECK ((announced_bytes >= 0)),
    CONSTRAINT resumable_uploads_check CHECK (((length_bytes IS NULL) OR (received_bytes <= length_bytes))),
    CONSTRAINT resumable_uploads_check1 CHECK (((sealed_at IS NULL) OR ((length_bytes IS NOT NULL) AND (received_bytes = length_bytes)))),
    CONSTRAINT resumable_uploads_ended_as_check CHECK ((ended_as = ANY (ARRAY['cancelled'::text, 'lost'::text]))),
    CONSTRAINT resumable_uploads_length_bytes_check CHECK ((length_bytes >= 0)),
    CONSTRAINT resumable_uploads_part_size_check CHECK ((part_size > 0)),
    CONSTRAINT resumable_uploads_received_bytes_check CHECK ((received_bytes >= 0))
);
CREATE TABLE public.upload_pieces (
    version text NOT NULL COLLATE pg_catalog."C",
    first_byte bigint NOT NULL,
    size bigint NOT NULL,
    receipt text NOT NULL,
    object_key text COLLATE pg_catalog."C",
    CONSTRAINT upload_pieces_first_byte_check CHECK ((first_byte >= 0)),
    CONSTRAINT upload_pieces_size_check CHECK ((size > 0))
);
CREATE TABLE public.uploads (
    version text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    object_key text NOT NULL COLLATE pg_catalog."C",
    reserved_bytes bigint NOT NULL,
    state text NOT NULL,
    lease_until bigint NOT NULL,
    settled_at bigint,
    outcome text,
    remove_at bigint DEFAULT 0 NOT NULL,
    garbage_bytes bigint DEFAULT 0 NOT NULL,
    is_evicting bigint DEFAULT 0 NOT NULL,
    CONSTRAINT uploads_check CHECK (((state = 'pending'::text) = (settled_at IS NULL))),
    CONSTRAINT uploads_reserved_bytes_check CHECK ((reserved_bytes >= 0)),
    CONSTRAINT uploads_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'committed'::text, 'aborted'::text])))
);
CREATE TABLE public.users (
    id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT users_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'deleted'::text])))
);
CREATE TABLE public.webhook_queues (
    user_id text NOT NULL COLLATE pg_catalog."C",
    delivered bigint NOT NULL,
    purged_at bigint,
    waiting_since bigint NOT NULL,
    due_at bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    failing_since bigint
);
INSERT INTO public.access_tokens VALUES ('90e41b295cb828f7813718cd42c5091fe1587e01ae42c64df9201875de87c811', '4c9921d0-f1e9-464d-8f4b-8dcbdb158cb6', 'ada', '', 1795825077248, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.access_tokens VALUES ('646a311f78318073b63f532bad3f38b6e3af0a7ef5b41d6c98094a4e98ebbe25', '0268f318-f700-452a-bcaa-c59f867693fd', 'ada', 'camera', 1795825078318, NULL, NULL, NULL, '{"actions":["read","create"],"prefix":"cam1-"}', NULL, '4c9921d0-f1e9-464d-8f4b-8dcbdb158cb6');
INSERT INTO public.changes VALUES ('ada', 1, 'file.created', 1795825077502, 0, 'empty', '01a21f84-0c58-756b-b2fd-da3ec764ac95', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 2, 'file.created', 1795825077671, 1795825077502, 'notes.txt', '01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 3, 'file.created', 1795825077789, 1795825077671, 'größe 日本', '01a21f84-0dc0-7d98-8945-00c68327f515', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 4, 'file.created', 1795825077915, 1795825077789, 'film.mov', '01a21f84-0e67-76d0-8a7f-568461114a1c', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 5, 'file.created', 1795825077978, 1795825077915, 'replaced', '01a21f84-0eba-7c62-b497-2c8336c74414', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 6, 'file.replaced', 1795825078083, 1795825077978, 'replaced', '01a21f84-0efc-7625-9bc4-87f51f52d598', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 7, 'file.created', 1795825078165, 1795825078083, 'deleted', '01a21f84-0f74-7c97-a8e6-647e0d19437f', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 8, 'file.deleted', 1795825078232, 1795825078165, 'deleted', '01a21f84-0f74-7c97-a8e6-647e0d19437f', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 9, 'file.created', 1795825078250, 1795825078232, 'draft', '01a21f84-0fde-7534-a967-7a794cc1819a', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 10, 'file.renamed', 1795825078260, 1795825078250, 'kept', '01a21f84-0fde-7534-a967-7a794cc1819a', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 'draft', NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 11, 'file.updated', 1795825078277, 1795825078260, 'kept', '01a21f84-0fde-7534-a967-7a794cc1819a', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.files VALUES ('ada', 'empty', '01a21f84-0c58-756b-b2fd-da3ec764ac95', 'users/ada/01a21f84-0c58-756b-b2fd-da3ec764ac95', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', 1795825077502, 1795825077502, 9007199254740991, 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.files VALUES ('ada', 'notes.txt', '01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0', 'users/ada/01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', 1795825077671, 1795825077671, 9007199254740991, 0, 'text/plain', '{"camera":"front door"}');
INSERT INTO public.files VALUES ('ada', 'größe 日本', '01a21f84-0dc0-7d98-8945-00c68327f515', 'users/ada/01a21f84-0dc0-7d98-8945-00c68327f515', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', 1795825077789, 1795825077789, 9007199254740991, 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.files VALUES ('ada', 'film.mov', '01a21f84-0e67-76d0-8a7f-568461114a1c', 'users/ada/01a21f84-0e67-76d0-8a7f-568461114a1c', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', 1795825077915, 1795825077915, 9007199254740991, 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.files VALUES ('ada', 'replaced', '01a21f84-0efc-7625-9bc4-87f51f52d598', 'users/ada/01a21f84-0efc-7625-9bc4-87f51f52d598', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', 1795825077978, 1795825078083, 9007199254740991, 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.files VALUES ('ada', 'kept', '01a21f84-0fde-7534-a967-7a794cc1819a', 'users/ada/01a21f84-0fde-7534-a967-7a794cc1819a', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 1795825078250, 1795825078276, 4102444800000, 1, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a21f84-127c-798d-9088-6bb81e92121e', 1795915978941, 0, NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a21f84-12b5-732d-8f27-23a0cb1936a0', 1795825979002, 4104, 'ada');
INSERT INTO public.grants VALUES ('ada', 'device', 'camera-17', 1048576, NULL, NULL, NULL, 1795825077130, NULL);
INSERT INTO public.grants VALUES ('ada', 'plan', 'yearly', 1073741824, NULL, 1767225600000, 4102444800000, 1795825077190, NULL);
INSERT INTO public.history VALUES ('01a21f84-0eba-7c62-b497-2c8336c74414', 'ada', 'replaced', 'users/ada/01a21f84-0eba-7c62-b497-2c8336c74414', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', 1795825077978, 1795825077978, 1795825078083, 'replaced', 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.history VALUES ('01a21f84-0f74-7c97-a8e6-647e0d19437f', 'ada', 'deleted', 'users/ada/01a21f84-0f74-7c97-a8e6-647e0d19437f', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', 1795825078165, 1795825078165, 1795825078234, 'deleted', 0, 'text/plain;charset=UTF-8', NULL);
INSERT INTO public.kysely_migration VALUES ('2026-11-21-initial', '2026-11-28T00:17:56.473Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-21-list-files', '2026-11-28T00:17:56.479Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-21-sweep-in-order', '2026-11-28T00:17:56.489Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-22-guessing', '2026-11-28T00:17:56.495Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-23-count-garbage', '2026-11-28T00:17:56.510Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-23-resumable-uploads', '2026-11-28T00:17:56.525Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-24-list-indexes', '2026-11-28T00:17:56.542Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-24-uploads-as-garbage', '2026-11-28T00:17:56.550Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-25-drop-guesses', '2026-11-28T00:17:56.554Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-26-changes', '2026-11-28T00:17:56.567Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-27-tokens-in-order', '2026-11-28T00:17:56.574Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-27-webhooks', '2026-11-28T00:17:56.590Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-28-history', '2026-11-28T00:17:56.604Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-29-scoped-tokens', '2026-11-28T00:17:56.609Z');
INSERT INTO public.kysely_migration VALUES ('2026-11-30-links', '2026-11-28T00:17:56.623Z');
INSERT INTO public.kysely_migration VALUES ('2026-12-01-retention', '2026-11-28T00:17:56.629Z');
INSERT INTO public.kysely_migration VALUES ('2026-12-01-retention-indexes', '2026-11-28T00:17:56.641Z');
INSERT INTO public.kysely_migration VALUES ('2026-12-02-drop-changes-by-time', '2026-11-28T00:17:56.642Z');
INSERT INTO public.kysely_migration VALUES ('2026-12-03-metadata', '2026-11-28T00:17:56.649Z');
INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);
INSERT INTO public.links VALUES ('438d29d5d761f1b3e45761519aea34244c548451c7ece2d467b33aab5adf52ec', '01a21f84-103e-77e7-847b-af9c8e7e963b', 'ada', '4c9921d0-f1e9-464d-8f4b-8dcbdb158cb6', NULL, 'download', 'notes.txt', NULL, '', NULL, NULL, 0, 1795825078346, NULL);
INSERT INTO public.links VALUES ('36efab23ae846648e2e5230d70ffc73ff0ddafc802f99b1ccf0cec363800415b', '01a21f84-121d-7803-974c-6ee965be87f6', 'ada', '4c9921d0-f1e9-464d-8f4b-8dcbdb158cb6', NULL, 'drop', NULL, 'in-', '', 'k0XN8YlLchCMCUJLNtIGwg:x6BDtefJvvIyGPihhOIV89SjxJKuox53ijS1mZRPnlc', 5, 0, 1795825078832, NULL);
INSERT INTO public.quotas VALUES ('bob', 0, 0, 0, 0, 0, 0, 0, 'normal', 0, 0, 0);
INSERT INTO public.quotas VALUES ('cyd', 0, 0, 0, 0, 0, 0, 0, 'normal', 0, 0, 0);
INSERT INTO public.quotas VALUES ('ada', 300047, 20, 6, 8200, 11, 1795825078277, 1795825078260, 'normal', 8208, 2, 0);
INSERT INTO public.resumable_uploads VALUES ('01a21f84-12a7-7957-844c-6dd270ce62b9', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 1, NULL, '{}', '', NULL, NULL, NULL, NULL, NULL, NULL, 'cancelled', 1795825078959, 1795825078995, 1796429878959, NULL, NULL, NULL);
INSERT INTO public.resumable_uploads VALUES ('01a21f84-1248-7e06-9874-71f40883d920', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 0, NULL, '{}', 'filename cmVzdW1lZA==', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795825078864, 1795825078941, 4102444800000, NULL, NULL, NULL);
INSERT INTO public.upload_pieces VALUES ('01a21f84-1248-7e06-9874-71f40883d920', 0, 8, '"2e9ec317e197819358fbc43afca7d837"', 'users/ada/01a21f84-127c-798d-9088-6bb81e92121e');
INSERT INTO public.uploads VALUES ('01a21f84-0c58-756b-b2fd-da3ec764ac95', 'ada', 'empty', 'users/ada/01a21f84-0c58-756b-b2fd-da3ec764ac95', 0, 'committed', 1795825137340, 1795825077502, '{"file" : {"userId" : "ada", "name" : "empty", "version" : "01a21f84-0c58-756b-b2fd-da3ec764ac95", "objectKey" : "users/ada/01a21f84-0c58-756b-b2fd-da3ec764ac95", "size" : 0, "sha256" : "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "visibility" : "private", "createdAt" : 1795825077502, "updatedAt" : 1795825077502, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0', 'ada', 'notes.txt', 'users/ada/01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0', 15, 'committed', 1795825137551, 1795825077671, '{"file" : {"userId" : "ada", "name" : "notes.txt", "version" : "01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0", "objectKey" : "users/ada/01a21f84-0d1d-7ad6-a243-e1be8b7ac5f0", "size" : 15, "sha256" : "30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814", "visibility" : "private", "createdAt" : 1795825077671, "updatedAt" : 1795825077671, "mediaType" : "text/plain", "metadata" : "{\"camera\":\"front door\"}", "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0dc0-7d98-8945-00c68327f515', 'ada', 'größe 日本', 'users/ada/01a21f84-0dc0-7d98-8945-00c68327f515', 11, 'committed', 1795825137702, 1795825077789, '{"file" : {"userId" : "ada", "name" : "größe 日本", "version" : "01a21f84-0dc0-7d98-8945-00c68327f515", "objectKey" : "users/ada/01a21f84-0dc0-7d98-8945-00c68327f515", "size" : 11, "sha256" : "5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a", "visibility" : "private", "createdAt" : 1795825077789, "updatedAt" : 1795825077789, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0e67-76d0-8a7f-568461114a1c', 'ada', 'film.mov', 'users/ada/01a21f84-0e67-76d0-8a7f-568461114a1c', 300000, 'committed', 1795825137865, 1795825077915, '{"file" : {"userId" : "ada", "name" : "film.mov", "version" : "01a21f84-0e67-76d0-8a7f-568461114a1c", "objectKey" : "users/ada/01a21f84-0e67-76d0-8a7f-568461114a1c", "size" : 300000, "sha256" : "f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60", "visibility" : "public", "createdAt" : 1795825077915, "updatedAt" : 1795825077915, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0eba-7c62-b497-2c8336c74414', 'ada', 'replaced', 'users/ada/01a21f84-0eba-7c62-b497-2c8336c74414', 6, 'committed', 1795825137958, 1795825077978, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a21f84-0eba-7c62-b497-2c8336c74414", "objectKey" : "users/ada/01a21f84-0eba-7c62-b497-2c8336c74414", "size" : 6, "sha256" : "6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb", "visibility" : "private", "createdAt" : 1795825077978, "updatedAt" : 1795825077978, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0efc-7625-9bc4-87f51f52d598', 'ada', 'replaced', 'users/ada/01a21f84-0efc-7625-9bc4-87f51f52d598', 0, 'committed', 1795825138043, 1795825078083, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a21f84-0efc-7625-9bc4-87f51f52d598", "objectKey" : "users/ada/01a21f84-0efc-7625-9bc4-87f51f52d598", "size" : 5, "sha256" : "f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8", "visibility" : "private", "createdAt" : 1795825077978, "updatedAt" : 1795825078083, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : true}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0f74-7c97-a8e6-647e0d19437f', 'ada', 'deleted', 'users/ada/01a21f84-0f74-7c97-a8e6-647e0d19437f', 10, 'committed', 1795825138141, 1795825078165, '{"file" : {"userId" : "ada", "name" : "deleted", "version" : "01a21f84-0f74-7c97-a8e6-647e0d19437f", "objectKey" : "users/ada/01a21f84-0f74-7c97-a8e6-647e0d19437f", "size" : 10, "sha256" : "b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c", "visibility" : "private", "createdAt" : 1795825078165, "updatedAt" : 1795825078165, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-0fde-7534-a967-7a794cc1819a', 'ada', 'draft', 'users/ada/01a21f84-0fde-7534-a967-7a794cc1819a', 16, 'committed', 1795825138238, 1795825078250, '{"file" : {"userId" : "ada", "name" : "draft", "version" : "01a21f84-0fde-7534-a967-7a794cc1819a", "objectKey" : "users/ada/01a21f84-0fde-7534-a967-7a794cc1819a", "size" : 16, "sha256" : "96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6", "visibility" : "private", "createdAt" : 1795825078250, "updatedAt" : 1795825078250, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0}, "replaced" : false}', 0, 0, 0);
INSERT INTO public.uploads VALUES ('01a21f84-12a7-7957-844c-6dd270ce62b9', 'ada', 'cancelled', 'users/ada/01a21f84-12a7-7957-844c-6dd270ce62b9', 20, 'aborted', 1795911478995, 1795825079001, NULL, 1795825079001, 4096, 0);
INSERT INTO public.uploads VALUES ('01a21f84-1248-7e06-9874-71f40883d920', 'ada', 'resumed', 'users/ada/01a21f84-1248-7e06-9874-71f40883d920', 20, 'pending', 4102444800000, NULL, NULL, 0, 0, 0);
INSERT INTO public.users VALUES ('ada', 'active', 1795825077014);
INSERT INTO public.users VALUES ('bob', 'active', 1795825077053);
INSERT INTO public.users VALUES ('cyd', 'suspended', 1795825077085);
INSERT INTO public.webhook_queues VALUES ('ada', 0, NULL, 1795825077502, 1795825077502, 0, NULL);
ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (sha256);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (user_id, sequence);
ALTER TABLE ONLY public.chores
    ADD CONSTRAINT chores_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (user_id, name);
ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_version_key UNIQUE (version);
ALTER TABLE ONLY public.garbage
    ADD CONSTRAINT garbage_pkey PRIMARY KEY (object_key);
ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (user_id, source, reference);
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (sha256);
ALTER TABLE ONLY public.parked_webhooks
    ADD CONSTRAINT parked_webhooks_pkey PRIMARY KEY (webhook_id);
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.resumable_uploads
    ADD CONSTRAINT resumable_uploads_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.upload_pieces
    ADD CONSTRAINT upload_pieces_pkey PRIMARY KEY (version, first_byte);
ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_queues
    ADD CONSTRAINT webhook_queues_pkey PRIMARY KEY (user_id);
CREATE INDEX access_tokens_by_creation ON public.access_tokens USING btree (user_id, created_at, token_id);
CREATE INDEX access_tokens_by_end ON public.access_tokens USING btree (user_id, COALESCE(revoked_at, expires_at)) WHERE (COALESCE(revoked_at, expires_at) IS NOT NULL);
CREATE UNIQUE INDEX access_tokens_by_user ON public.access_tokens USING btree (user_id, token_id);
CREATE INDEX files_by_expiry ON public.files USING btree (expires_at) WHERE (expires_at < '9007199254740991'::bigint);
CREATE INDEX files_listed_by_size ON public.files USING btree (user_id, size, name) WHERE (size >= 0);
CREATE INDEX files_listed_by_updated_at ON public.files USING btree (user_id, updated_at, name) WHERE (updated_at >= 0);
CREATE INDEX files_listed_public_by_size ON public.files USING btree (user_id, size, name) WHERE ((size >= 0) AND (visibility = 'public'::text));
CREATE INDEX files_listed_public_by_updated_at ON public.files USING btree (user_id, updated_at, name) WHERE ((updated_at >= 0) AND (visibility = 'public'::text));
CREATE INDEX files_listed_shared_by_size ON public.files USING btree (user_id, size, name) WHERE ((size >= 0) AND (visibility <> 'private'::text));
CREATE INDEX files_listed_shared_by_updated_at ON public.files USING btree (user_id, updated_at, name) WHERE ((updated_at >= 0) AND (visibility <> 'private'::text));
CREATE INDEX files_of_user_by_expiry ON public.files USING btree (user_id, expires_at) WHERE (expires_at < '9007199254740991'::bigint);
CREATE INDEX files_public_by_name ON public.files USING btree (user_id, name) WHERE (visibility = 'public'::text);
CREATE INDEX files_shared_by_name ON public.files USING btree (user_id, name) WHERE (visibility <> 'private'::text);
CREATE INDEX garbage_by_user ON public.garbage USING btree (user_id, not_before) WHERE (user_id IS NOT NULL);
CREATE INDEX garbage_in_order ON public.garbage USING btree (not_before, object_key);
CREATE INDEX grants_by_end ON public.grants USING btree (ends_at, user_id) WHERE (ends_at IS NOT NULL);
CREATE INDEX grants_by_start ON public.grants USING btree (starts_at, user_id) WHERE (starts_at IS NOT NULL);
CREATE INDEX history_by_age ON public.history USING btree (ended_at);
CREATE INDEX history_by_end ON public.history USING btree (user_id, ended_at, version);
CREATE INDEX history_by_name ON public.history USING btree (user_id, name, ended_at, version);
CREATE INDEX history_unmarked ON public.history USING btree (ended_as, ended_at) WHERE (is_marked = 0);
CREATE UNIQUE INDEX links_by_user ON public.links USING btree (user_id, link_id);
CREATE INDEX parked_webhooks_in_order ON public.parked_webhooks USING btree (parked_at, webhook_id);
CREATE INDEX quotas_to_trim ON public.quotas USING btree (user_id) WHERE (history_excess > 0);
CREATE INDEX resumable_uploads_by_link ON public.resumable_uploads USING btree (link_id) WHERE (link_id IS NOT NULL);
CREATE INDEX resumable_uploads_by_user ON public.resumable_uploads USING btree (user_id, version);
CREATE INDEX resumable_uploads_held ON public.resumable_uploads USING btree (holder) WHERE (holder IS NOT NULL);
CREATE INDEX upload_pieces_tail ON public.upload_pieces USING btree (version, first_byte) WHERE (object_key IS NOT NULL);
CREATE INDEX uploads_by_lease ON public.uploads USING btree (lease_until) WHERE (state = 'pending'::text);
CREATE INDEX uploads_by_user ON public.uploads USING btree (user_id, state);
CREATE INDEX uploads_committed ON public.uploads USING btree (settled_at) WHERE (state = 'committed'::text);
CREATE INDEX uploads_ended ON public.uploads USING btree (user_id, settled_at) WHERE (state = 'aborted'::text);
CREATE INDEX uploads_to_remove ON public.uploads USING btree (remove_at, version) WHERE (state = 'aborted'::text);
CREATE INDEX users_deleted ON public.users USING btree (id) WHERE (status = 'deleted'::text);
CREATE INDEX webhook_queues_by_age ON public.webhook_queues USING btree (waiting_since);
CREATE INDEX webhook_queues_due ON public.webhook_queues USING btree (due_at, user_id);
CREATE TRIGGER ended_upload_removed AFTER DELETE ON public.uploads FOR EACH ROW WHEN ((old.garbage_bytes > 0)) EXECUTE FUNCTION public.ended_upload_removed();
CREATE TRIGGER garbage_added AFTER INSERT ON public.garbage FOR EACH ROW WHEN ((new.user_id IS NOT NULL)) EXECUTE FUNCTION public.garbage_added();
CREATE TRIGGER garbage_removed AFTER DELETE ON public.garbage FOR EACH ROW WHEN ((old.user_id IS NOT NULL)) EXECUTE FUNCTION public.garbage_removed();
ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.quotas(user_id);
ALTER TABLE ONLY public.garbage
    ADD CONSTRAINT garbage_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.quotas(user_id) ON DELETE SET NULL;
ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.quotas(user_id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.resumable_uploads
    ADD CONSTRAINT resumable_uploads_version_fkey FOREIGN KEY (version) REFERENCES public.uploads(version) ON DELETE CASCADE;
ALTER TABLE ONLY public.upload_pieces
    ADD CONSTRAINT upload_pieces_version_fkey FOREIGN KEY (version) REFERENCES public.uploads(version) ON DELETE CASCADE;
ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.quotas(user_id) ON DELETE CASCADE;
