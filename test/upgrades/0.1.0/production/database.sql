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
    parent_id text,
    credential text COLLATE pg_catalog."C"
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
CREATE TABLE public.daily_usage (
    day bigint NOT NULL,
    users bigint NOT NULL,
    files bigint NOT NULL,
    used_bytes bigint NOT NULL
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
    modified_at bigint DEFAULT 0 NOT NULL,
    media_type text,
    metadata text,
    metadata_bytes bigint DEFAULT 0 NOT NULL,
    expires_at bigint DEFAULT '9007199254740991'::bigint NOT NULL,
    is_kept bigint DEFAULT 0 NOT NULL,
    stored_by text COLLATE pg_catalog."C",
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
    media_type text,
    metadata text,
    expires_at bigint DEFAULT '9007199254740991'::bigint NOT NULL,
    stored_by text COLLATE pg_catalog."C",
    ended_at bigint NOT NULL,
    ended_as text NOT NULL,
    ended_by text COLLATE pg_catalog."C",
    is_protected bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.leader_leases (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL,
    lease_until bigint NOT NULL
);
CREATE TABLE public.links (
    sha256 text NOT NULL COLLATE pg_catalog."C",
    link_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    token_id text NOT NULL,
    device_id text,
    credential text COLLATE pg_catalog."C",
    kind text NOT NULL,
    name text,
    prefix text,
    label text NOT NULL,
    password_hash text,
    max_uses bigint,
    uses bigint DEFAULT 0 NOT NULL,
    use_fraction bigint DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
);
CREATE TABLE public.object_store (
    id bigint NOT NULL,
    identity text NOT NULL COLLATE pg_catalog."C",
    is_confirmed bigint NOT NULL,
    CONSTRAINT object_store_id_check CHECK ((id = 1))
);
CREATE TABLE public.operator_actions (
    action_id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    action text NOT NULL,
    user_id text COLLATE pg_catalog."C",
    details text NOT NULL,
    address text,
    request_id text
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
    history_bytes bigint DEFAULT 0 NOT NULL,
    history_count bigint DEFAULT 0 NOT NULL,
    history_protected bigint DEFAULT 0 NOT NULL,
    history_excess bigint DEFAULT 0 NOT NULL,
    change_count bigint DEFAULT 0 NOT NULL,
    changed_at bigint DEFAULT 0 NOT NULL,
    previously_changed_at bigint DEFAULT 0 NOT NULL,
    newest_at bigint DEFAULT 0 NOT NULL,
    freed_at bigint DEFAULT 0 NOT NULL,
    capacity_state text,
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
    link_id text,
    evict text,
    expires_in bigint,
    expected_sha256 text,
    sha256 text,
    sealed_at bigint,
    refusal text,
    ended_as text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ends_at bigint NOT NULL,
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
    remove_at bigint DEFAULT 0 NOT NULL,
    outcome text,
    is_evicting bigint DEFAULT 0 NOT NULL,
    credential text COLLATE pg_catalog."C",
    garbage_bytes bigint DEFAULT 0 NOT NULL,
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
INSERT INTO public.access_tokens VALUES ('1f5011519785aae4d03199f87ed645ef97c395621c94a7df20fac0cff4ed2f44', 'fdbef7a4-1eab-4a91-ba5b-c502f796f20e', 'ada', '', 1795941445577, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.access_tokens VALUES ('7a4f00d81b878628bdefa74e54d720055463140bfc6217f8ab9d3750f3538fdf', 'e886cd9e-c457-4aad-9f59-34f19a377f93', 'ada', 'camera', 1795941445725, NULL, NULL, NULL, '{"actions":["read","create"],"prefix":"cam1-","when_full":"refuse"}', NULL, 'fdbef7a4-1eab-4a91-ba5b-c502f796f20e', NULL);
INSERT INTO public.changes VALUES ('ada', 1, 'file.created', 1795941445604, 0, 'empty', '01a22673-afd7-7c28-af00-bfaca5a8727a', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 2, 'file.created', 1795941445618, 1795941445604, 'notes.txt', '01a22673-afe8-7368-848b-70c6b11be73b', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 3, 'file.created', 1795941445627, 1795941445618, 'größe 日本', '01a22673-aff5-7b39-9bab-8bba5ed6cfa2', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 4, 'file.created', 1795941445645, 1795941445627, 'film.mov', '01a22673-affe-7877-b1b7-a18d1b284416', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 5, 'file.created', 1795941445656, 1795941445645, 'replaced', '01a22673-b010-7e90-81c2-f01f879f50fa', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 6, 'file.replaced', 1795941445665, 1795941445656, 'replaced', '01a22673-b01b-75be-acb5-e7a6abbcbaf6', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 7, 'file.created', 1795941445678, 1795941445665, 'deleted', '01a22673-b029-76fb-ae63-01e7be1948fa', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 8, 'file.deleted', 1795941445685, 1795941445678, 'deleted', '01a22673-b029-76fb-ae63-01e7be1948fa', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 9, 'file.created', 1795941445702, 1795941445685, 'draft', '01a22673-b040-704d-9856-08df3ba0507e', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 10, 'file.renamed', 1795941445707, 1795941445702, 'kept', '01a22673-b040-704d-9856-08df3ba0507e', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 'draft', NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 11, 'file.updated', 1795941445715, 1795941445707, 'kept', '01a22673-b040-704d-9856-08df3ba0507e', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.files VALUES ('ada', 'empty', '01a22673-afd7-7c28-af00-bfaca5a8727a', 'users/ada/01a22673-afd7-7c28-af00-bfaca5a8727a', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', 1795941445604, 1795941445604, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'notes.txt', '01a22673-afe8-7368-848b-70c6b11be73b', 'users/ada/01a22673-afe8-7368-848b-70c6b11be73b', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', 1795941445618, 1795941445618, 0, 'text/plain', '{"camera":"front door"}', 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'größe 日本', '01a22673-aff5-7b39-9bab-8bba5ed6cfa2', 'users/ada/01a22673-aff5-7b39-9bab-8bba5ed6cfa2', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', 1795941445627, 1795941445627, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'film.mov', '01a22673-affe-7877-b1b7-a18d1b284416', 'users/ada/01a22673-affe-7877-b1b7-a18d1b284416', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', 1795941445645, 1795941445645, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'replaced', '01a22673-b01b-75be-acb5-e7a6abbcbaf6', 'users/ada/01a22673-b01b-75be-acb5-e7a6abbcbaf6', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', 1795941445656, 1795941445665, 1795941446000, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'kept', '01a22673-b040-704d-9856-08df3ba0507e', 'users/ada/01a22673-b040-704d-9856-08df3ba0507e', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 1795941445702, 1795941445715, 1795941447000, 'text/plain;charset=UTF-8', NULL, 0, 4102444800000, 1, NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a22673-b281-7e9e-94d5-24136f2ca024', 1796032346388, 0, NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a22673-b321-765f-911b-259e0773cf5e', 1795942346447, 4104, 'ada');
INSERT INTO public.grants VALUES ('ada', 'device', 'camera-17', 1048576, NULL, NULL, NULL, 1795941445566);
INSERT INTO public.grants VALUES ('ada', 'plan', 'yearly', 1073741824, NULL, 1767225600000, 4102444800000, 1795941445571);
INSERT INTO public.history VALUES ('01a22673-b010-7e90-81c2-f01f879f50fa', 'ada', 'replaced', 'users/ada/01a22673-b010-7e90-81c2-f01f879f50fa', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', 1795941445656, 1795941445656, 'text/plain;charset=UTF-8', NULL, 9007199254740991, NULL, 1795941445665, 'replaced', NULL, 0);
INSERT INTO public.history VALUES ('01a22673-b029-76fb-ae63-01e7be1948fa', 'ada', 'deleted', 'users/ada/01a22673-b029-76fb-ae63-01e7be1948fa', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', 1795941445678, 1795941445678, 'text/plain;charset=UTF-8', NULL, 9007199254740991, NULL, 1795941445685, 'deleted', NULL, 0);
INSERT INTO public.kysely_migration VALUES ('2026-11-29-initial', '2026-11-29T08:37:25.015Z');
INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);
INSERT INTO public.links VALUES ('50384b6d489591da6bb4875b44c38eacfbeff6c8b8613e5eb6e613effc314d17', '01a22673-b060-7eba-9e7f-73ad445ca077', 'ada', 'fdbef7a4-1eab-4a91-ba5b-c502f796f20e', NULL, NULL, 'download', 'notes.txt', NULL, '', NULL, NULL, 0, 0, 1795941445731, NULL);
INSERT INTO public.links VALUES ('e8217588e22a84e2d3742959f94eeb4b34762be34c46f4a5d5df8b4dd6b69853', '01a22673-b266-7527-b5e4-5ff94babb258', 'ada', 'fdbef7a4-1eab-4a91-ba5b-c502f796f20e', NULL, NULL, 'drop', NULL, 'in-', '', 'VjM9ckZPaXEqXXCfZDsW_g:rM4CZ-2BwtlL3b04g4xxdCmXhs3lj1g_oEbHBWYkA_0', 5, 0, 0, 1795941446253, NULL);
INSERT INTO public.object_store VALUES (1, '347f754d-8237-4111-94f9-81c885d4d33c', 1);
INSERT INTO public.operator_actions VALUES ('01a22673-afb1-77cf-9c5a-fa164f3c05a5', 1795941445553, 'user.create', 'ada', '{}', '127.0.0.1', '58ae1f06-85d7-49da-828a-21d860c9bddc');
INSERT INTO public.operator_actions VALUES ('01a22673-afb5-7618-922e-a9574e6ace37', 1795941445558, 'user.create', 'bob', '{}', '127.0.0.1', 'c8035328-9242-4cdc-8463-c5c69afe879f');
INSERT INTO public.operator_actions VALUES ('01a22673-afb9-77d6-affd-d39e780538b3', 1795941445561, 'user.create', 'cyd', '{}', '127.0.0.1', '8b31a9e8-b5f3-4983-94b9-faf07f1bae47');
INSERT INTO public.operator_actions VALUES ('01a22673-afc0-7362-8139-a72911e1e87d', 1795941445568, 'device.put', 'ada', '{"device_id":"camera-17","bytes":1048576,"created":true}', '127.0.0.1', '351895cd-3aa7-4405-b278-09e30c2cc36f');
INSERT INTO public.operator_actions VALUES ('01a22673-afc4-7107-821e-634471352565', 1795941445572, 'grant.put', 'ada', '{"source":"plan","reference":"yearly","bytes":1073741824,"starts_at":"2026-01-01T00:00:00.000Z","ends_at":"2100-01-01T00:00:00.000Z","created":true}', '127.0.0.1', '6f0b928d-01cb-4caf-aafd-016fcc3da91c');
INSERT INTO public.operator_actions VALUES ('01a22673-afc9-7599-9c4f-c1e9216dc20d', 1795941445577, 'access_token.issue', 'ada', '{"token_id":"fdbef7a4-1eab-4a91-ba5b-c502f796f20e","label":""}', '127.0.0.1', '317d4dec-7407-47c4-8f79-ee165d1a22dc');
INSERT INTO public.operator_actions VALUES ('01a22673-afce-705d-afaa-f0c7e2d421e7', 1795941445582, 'user.set_status', 'cyd', '{"status":"suspended"}', '127.0.0.1', '1c2370bb-04d1-4df6-85e0-d359648008a9');
INSERT INTO public.quotas VALUES ('bob', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'normal');
INSERT INTO public.quotas VALUES ('cyd', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'normal');
INSERT INTO public.quotas VALUES ('ada', 300047, 20, 6, 8200, 8208, 2, 0, 0, 11, 1795941445715, 1795941445707, 1795941445715, 1795941446000, 'normal');
INSERT INTO public.resumable_uploads VALUES ('01a22673-b31b-7bdb-9de0-9674cb20c4df', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 1, NULL, '{}', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'cancelled', 1795941446429, 1795941446441, 1796546246429);
INSERT INTO public.resumable_uploads VALUES ('01a22673-b273-7189-8b60-c3d73e334312', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 0, NULL, '{}', 'filename cmVzdW1lZA==', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795941446263, 1795941446387, 4102444800000);
INSERT INTO public.upload_pieces VALUES ('01a22673-b273-7189-8b60-c3d73e334312', 0, 8, '"2e9ec317e197819358fbc43afca7d837"', 'users/ada/01a22673-b281-7e9e-94d5-24136f2ca024');
INSERT INTO public.uploads VALUES ('01a22673-afd7-7c28-af00-bfaca5a8727a', 'ada', 'empty', 'users/ada/01a22673-afd7-7c28-af00-bfaca5a8727a', 0, 'committed', 1795941505594, 1795941445604, 0, '{"file" : {"userId" : "ada", "name" : "empty", "version" : "01a22673-afd7-7c28-af00-bfaca5a8727a", "objectKey" : "users/ada/01a22673-afd7-7c28-af00-bfaca5a8727a", "size" : 0, "sha256" : "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "visibility" : "private", "createdAt" : 1795941445604, "updatedAt" : 1795941445604, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-afe8-7368-848b-70c6b11be73b', 'ada', 'notes.txt', 'users/ada/01a22673-afe8-7368-848b-70c6b11be73b', 15, 'committed', 1795941505609, 1795941445618, 0, '{"file" : {"userId" : "ada", "name" : "notes.txt", "version" : "01a22673-afe8-7368-848b-70c6b11be73b", "objectKey" : "users/ada/01a22673-afe8-7368-848b-70c6b11be73b", "size" : 15, "sha256" : "30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814", "visibility" : "private", "createdAt" : 1795941445618, "updatedAt" : 1795941445618, "mediaType" : "text/plain", "metadata" : "{\"camera\":\"front door\"}", "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-aff5-7b39-9bab-8bba5ed6cfa2', 'ada', 'größe 日本', 'users/ada/01a22673-aff5-7b39-9bab-8bba5ed6cfa2', 11, 'committed', 1795941505622, 1795941445627, 0, '{"file" : {"userId" : "ada", "name" : "größe 日本", "version" : "01a22673-aff5-7b39-9bab-8bba5ed6cfa2", "objectKey" : "users/ada/01a22673-aff5-7b39-9bab-8bba5ed6cfa2", "size" : 11, "sha256" : "5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a", "visibility" : "private", "createdAt" : 1795941445627, "updatedAt" : 1795941445627, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-affe-7877-b1b7-a18d1b284416', 'ada', 'film.mov', 'users/ada/01a22673-affe-7877-b1b7-a18d1b284416', 300000, 'committed', 1795941505632, 1795941445645, 0, '{"file" : {"userId" : "ada", "name" : "film.mov", "version" : "01a22673-affe-7877-b1b7-a18d1b284416", "objectKey" : "users/ada/01a22673-affe-7877-b1b7-a18d1b284416", "size" : 300000, "sha256" : "f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60", "visibility" : "public", "createdAt" : 1795941445645, "updatedAt" : 1795941445645, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-b010-7e90-81c2-f01f879f50fa', 'ada', 'replaced', 'users/ada/01a22673-b010-7e90-81c2-f01f879f50fa', 6, 'committed', 1795941505649, 1795941445656, 0, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a22673-b010-7e90-81c2-f01f879f50fa", "objectKey" : "users/ada/01a22673-b010-7e90-81c2-f01f879f50fa", "size" : 6, "sha256" : "6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb", "visibility" : "private", "createdAt" : 1795941445656, "updatedAt" : 1795941445656, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-b01b-75be-acb5-e7a6abbcbaf6', 'ada', 'replaced', 'users/ada/01a22673-b01b-75be-acb5-e7a6abbcbaf6', 0, 'committed', 1795941505660, 1795941445665, 0, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a22673-b01b-75be-acb5-e7a6abbcbaf6", "objectKey" : "users/ada/01a22673-b01b-75be-acb5-e7a6abbcbaf6", "size" : 5, "sha256" : "f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8", "visibility" : "private", "createdAt" : 1795941445656, "updatedAt" : 1795941445665, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 1795941446000, "storedBy" : null}, "replaced" : true}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-b029-76fb-ae63-01e7be1948fa', 'ada', 'deleted', 'users/ada/01a22673-b029-76fb-ae63-01e7be1948fa', 10, 'committed', 1795941505673, 1795941445678, 0, '{"file" : {"userId" : "ada", "name" : "deleted", "version" : "01a22673-b029-76fb-ae63-01e7be1948fa", "objectKey" : "users/ada/01a22673-b029-76fb-ae63-01e7be1948fa", "size" : 10, "sha256" : "b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c", "visibility" : "private", "createdAt" : 1795941445678, "updatedAt" : 1795941445678, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-b040-704d-9856-08df3ba0507e', 'ada', 'draft', 'users/ada/01a22673-b040-704d-9856-08df3ba0507e', 16, 'committed', 1795941505697, 1795941445702, 0, '{"file" : {"userId" : "ada", "name" : "draft", "version" : "01a22673-b040-704d-9856-08df3ba0507e", "objectKey" : "users/ada/01a22673-b040-704d-9856-08df3ba0507e", "size" : 16, "sha256" : "96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6", "visibility" : "private", "createdAt" : 1795941445702, "updatedAt" : 1795941445702, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 1795941446000, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22673-b31b-7bdb-9de0-9674cb20c4df', 'ada', 'cancelled', 'users/ada/01a22673-b31b-7bdb-9de0-9674cb20c4df', 20, 'aborted', 1796027846442, 1795941446446, 1795941446446, NULL, 0, NULL, 4096);
INSERT INTO public.uploads VALUES ('01a22673-b273-7189-8b60-c3d73e334312', 'ada', 'resumed', 'users/ada/01a22673-b273-7189-8b60-c3d73e334312', 20, 'pending', 4102444800000, NULL, 0, NULL, 0, NULL, 0);
INSERT INTO public.users VALUES ('ada', 'active', 1795941445551);
INSERT INTO public.users VALUES ('bob', 'active', 1795941445557);
INSERT INTO public.users VALUES ('cyd', 'suspended', 1795941445560);
INSERT INTO public.webhook_queues VALUES ('ada', 0, NULL, 1795941445604, 1795941445604, 0, NULL);
ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (sha256);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (user_id, sequence);
ALTER TABLE ONLY public.daily_usage
    ADD CONSTRAINT daily_usage_pkey PRIMARY KEY (day);
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
ALTER TABLE ONLY public.leader_leases
    ADD CONSTRAINT leader_leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (sha256);
ALTER TABLE ONLY public.object_store
    ADD CONSTRAINT object_store_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_actions
    ADD CONSTRAINT operator_actions_pkey PRIMARY KEY (action_id);
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
CREATE INDEX history_by_charged ON public.history USING btree (user_id, COALESCE(ended_by, stored_by), (
CASE
    WHEN (ended_by IS NULL) THEN 1
    WHEN (ended_by = stored_by) THEN 0
    ELSE 2
END), ended_at, version) WHERE ((COALESCE(ended_by, stored_by) IS NOT NULL) AND (is_protected = 0));
CREATE INDEX history_by_end ON public.history USING btree (user_id, ended_at, version);
CREATE INDEX history_by_expiry ON public.history USING btree (expires_at) WHERE (expires_at < '9007199254740991'::bigint);
CREATE INDEX history_by_name ON public.history USING btree (user_id, name, ended_at, version);
CREATE INDEX history_charged_by_end ON public.history USING btree (user_id, ended_at, version) WHERE ((COALESCE(ended_by, stored_by) IS NOT NULL) AND (is_protected = 0));
CREATE INDEX history_of_user_by_expiry ON public.history USING btree (user_id, expires_at) WHERE (expires_at < '9007199254740991'::bigint);
CREATE INDEX history_of_user_protected ON public.history USING btree (user_id, ended_at, version) WHERE (is_protected = 1);
CREATE INDEX history_protected ON public.history USING btree (ended_at) WHERE (is_protected = 1);
CREATE UNIQUE INDEX links_by_user ON public.links USING btree (user_id, link_id);
CREATE INDEX operator_actions_by_user ON public.operator_actions USING btree (user_id, action_id);
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
CREATE INDEX users_by_creation ON public.users USING btree (created_at, id);
CREATE INDEX users_deleted ON public.users USING btree (id) WHERE (status = 'deleted'::text);
CREATE INDEX users_suspended ON public.users USING btree (id) WHERE (status = 'suspended'::text);
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
