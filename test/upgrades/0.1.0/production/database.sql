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
    is_protected bigint DEFAULT 0 NOT NULL,
    is_marked bigint DEFAULT 0 NOT NULL
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
INSERT INTO public.access_tokens VALUES ('a5ce7295f7737a32a753a8344e1ee753543a1106585a56ef180b7c77d2c4ea8f', '509b99df-7393-4f2b-a60b-d04231d71a04', 'ada', '', 1795922682509, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.access_tokens VALUES ('5f8c5ccb601b53bfc9a100e189b7318c010b75fcac728ac3687cfd6bdaf7ce91', '0fe37ade-5082-4462-ac50-6bc9d6d026b8', 'ada', 'camera', 1795922682731, NULL, NULL, NULL, '{"actions":["read","create"],"prefix":"cam1-","when_full":"refuse"}', NULL, '509b99df-7393-4f2b-a60b-d04231d71a04', NULL);
INSERT INTO public.changes VALUES ('ada', 1, 'file.created', 1795922682538, 0, 'empty', '01a22555-629d-700d-9ad0-d5a17eba0d96', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 2, 'file.created', 1795922682551, 1795922682538, 'notes.txt', '01a22555-62ae-7481-8385-347bd2a63d62', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 3, 'file.created', 1795922682560, 1795922682551, 'größe 日本', '01a22555-62ba-7122-9475-c119dbe87732', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 4, 'file.created', 1795922682598, 1795922682560, 'film.mov', '01a22555-62c3-76cb-bf65-6cc3aa949d07', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 5, 'file.created', 1795922682609, 1795922682598, 'replaced', '01a22555-62ea-7e3c-ad14-a1b182790174', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 6, 'file.replaced', 1795922682619, 1795922682609, 'replaced', '01a22555-62f4-7334-b182-92de3360e123', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 7, 'file.created', 1795922682626, 1795922682619, 'deleted', '01a22555-62fe-7112-b815-c84071bd0050', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 8, 'file.deleted', 1795922682634, 1795922682626, 'deleted', '01a22555-62fe-7112-b815-c84071bd0050', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 9, 'file.created', 1795922682663, 1795922682634, 'draft', '01a22555-631b-7196-9fb7-2470256a63cb', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 10, 'file.renamed', 1795922682681, 1795922682663, 'kept', '01a22555-631b-7196-9fb7-2470256a63cb', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 'draft', NULL, NULL);
INSERT INTO public.changes VALUES ('ada', 11, 'file.updated', 1795922682701, 1795922682681, 'kept', '01a22555-631b-7196-9fb7-2470256a63cb', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', NULL, NULL, NULL);
INSERT INTO public.files VALUES ('ada', 'empty', '01a22555-629d-700d-9ad0-d5a17eba0d96', 'users/ada/01a22555-629d-700d-9ad0-d5a17eba0d96', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'private', 1795922682538, 1795922682538, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'notes.txt', '01a22555-62ae-7481-8385-347bd2a63d62', 'users/ada/01a22555-62ae-7481-8385-347bd2a63d62', 15, '30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814', 'private', 1795922682551, 1795922682551, 0, 'text/plain', '{"camera":"front door"}', 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'größe 日本', '01a22555-62ba-7122-9475-c119dbe87732', 'users/ada/01a22555-62ba-7122-9475-c119dbe87732', 11, '5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a', 'private', 1795922682560, 1795922682560, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'film.mov', '01a22555-62c3-76cb-bf65-6cc3aa949d07', 'users/ada/01a22555-62c3-76cb-bf65-6cc3aa949d07', 300000, 'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60', 'public', 1795922682598, 1795922682598, 0, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'replaced', '01a22555-62f4-7334-b182-92de3360e123', 'users/ada/01a22555-62f4-7334-b182-92de3360e123', 5, 'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8', 'private', 1795922682609, 1795922682619, 1795922683000, 'text/plain;charset=UTF-8', NULL, 0, 9007199254740991, 0, NULL);
INSERT INTO public.files VALUES ('ada', 'kept', '01a22555-631b-7196-9fb7-2470256a63cb', 'users/ada/01a22555-631b-7196-9fb7-2470256a63cb', 16, '96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6', 'private', 1795922682663, 1795922682701, 1795922684000, 'text/plain;charset=UTF-8', NULL, 0, 4102444800000, 1, NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a22555-6716-732b-9ab3-721ad3030963', 1796013583697, 0, NULL);
INSERT INTO public.garbage VALUES ('users/ada/01a22555-678d-7c06-965f-edb7148f114a', 1795923583851, 4104, 'ada');
INSERT INTO public.grants VALUES ('ada', 'device', 'camera-17', 1048576, NULL, NULL, NULL, 1795922682495);
INSERT INTO public.grants VALUES ('ada', 'plan', 'yearly', 1073741824, NULL, 1767225600000, 4102444800000, 1795922682501);
INSERT INTO public.history VALUES ('01a22555-62ea-7e3c-ad14-a1b182790174', 'ada', 'replaced', 'users/ada/01a22555-62ea-7e3c-ad14-a1b182790174', 6, '6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb', 'private', 1795922682609, 1795922682609, 'text/plain;charset=UTF-8', NULL, 9007199254740991, NULL, 1795922682619, 'replaced', NULL, 0, 0);
INSERT INTO public.history VALUES ('01a22555-62fe-7112-b815-c84071bd0050', 'ada', 'deleted', 'users/ada/01a22555-62fe-7112-b815-c84071bd0050', 10, 'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c', 'private', 1795922682626, 1795922682626, 'text/plain;charset=UTF-8', NULL, 9007199254740991, NULL, 1795922682634, 'deleted', NULL, 0, 0);
INSERT INTO public.kysely_migration VALUES ('2026-11-29-initial', '2026-11-29T03:24:41.709Z');
INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);
INSERT INTO public.links VALUES ('a249b7b73c71cc8515276984ae6f5eaddc21c1da9511aff014011e523c08bf44', '01a22555-6385-7519-b409-f493433d27cd', 'ada', '509b99df-7393-4f2b-a60b-d04231d71a04', NULL, NULL, 'download', 'notes.txt', NULL, '', NULL, NULL, 0, 0, 1795922682762, NULL);
INSERT INTO public.links VALUES ('aa02679dbae8fbfa6e7d44fbaf101dccd1d0f2d7cf8f724ab23cbaae52e0c32a', '01a22555-66b2-78af-a71a-41cf59a4c8cc', 'ada', '509b99df-7393-4f2b-a60b-d04231d71a04', NULL, NULL, 'drop', NULL, 'in-', '', 'uU3tr7uJHWinPH-3MO5Y2Q:VsP_IoE-RxxKUPafCB0of3WiXrSjmoeDP40AyPE3vq8', 5, 0, 0, 1795922683603, NULL);
INSERT INTO public.object_store VALUES (1, '4cdd84cb-2225-49b8-94af-e3ec6bd65c75', 1);
INSERT INTO public.operator_actions VALUES ('01a22555-6272-7a65-a7e6-7d3a63e5b547', 1795922682482, 'user.create', 'ada', '{}', '127.0.0.1', '1dc12c76-7bc5-4dca-8c23-4e11082a15df');
INSERT INTO public.operator_actions VALUES ('01a22555-6277-7730-a647-a91cc6e2b2e4', 1795922682487, 'user.create', 'bob', '{}', '127.0.0.1', '44c54d7d-0a2c-4681-9f08-03623c3b9b2f');
INSERT INTO public.operator_actions VALUES ('01a22555-627a-766d-b6d2-0497480b4288', 1795922682490, 'user.create', 'cyd', '{}', '127.0.0.1', '6e40811a-59c0-4664-8ed3-9a4a0c707ada');
INSERT INTO public.operator_actions VALUES ('01a22555-6280-7ab9-8cf3-bbf88b5c3256', 1795922682497, 'device.put', 'ada', '{"device_id":"camera-17","bytes":1048576,"created":true}', '127.0.0.1', '2b753d7e-b336-422d-bfba-5cdd2c4e7e91');
INSERT INTO public.operator_actions VALUES ('01a22555-6286-720d-be86-78fb54ceabab', 1795922682502, 'grant.put', 'ada', '{"source":"plan","reference":"yearly","bytes":1073741824,"starts_at":"2026-01-01T00:00:00.000Z","ends_at":"2100-01-01T00:00:00.000Z","created":true}', '127.0.0.1', 'c1cd7c6b-0f78-4d0b-8a9d-550a35bce1de');
INSERT INTO public.operator_actions VALUES ('01a22555-628e-753b-8746-d8b2a0a57c5a', 1795922682510, 'access_token.issue', 'ada', '{"token_id":"509b99df-7393-4f2b-a60b-d04231d71a04","label":""}', '127.0.0.1', 'f4b229bf-e24e-46fc-a0dd-068aa7b88353');
INSERT INTO public.operator_actions VALUES ('01a22555-6292-7123-af99-76906eb5fcf8', 1795922682514, 'user.set_status', 'cyd', '{"status":"suspended"}', '127.0.0.1', 'd0e43e48-ef04-4932-9741-16ceda75004d');
INSERT INTO public.quotas VALUES ('bob', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'normal');
INSERT INTO public.quotas VALUES ('cyd', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'normal');
INSERT INTO public.quotas VALUES ('ada', 300047, 20, 6, 8200, 8208, 2, 0, 0, 11, 1795922682701, 1795922682681, 1795922682701, 1795922683000, 'normal');
INSERT INTO public.resumable_uploads VALUES ('01a22555-673d-77f3-8038-3f593acdd16f', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 1, NULL, '{}', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'cancelled', 1795922683721, 1795922683824, 1796527483721);
INSERT INTO public.resumable_uploads VALUES ('01a22555-66ef-73de-8594-e2571c7550c1', 'ada', 20, 20, 8, 8388608, 1, NULL, 0, 0, NULL, '{}', 'filename cmVzdW1lZA==', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795922683636, 1795922683697, 4102444800000);
INSERT INTO public.upload_pieces VALUES ('01a22555-66ef-73de-8594-e2571c7550c1', 0, 8, '"2e9ec317e197819358fbc43afca7d837"', 'users/ada/01a22555-6716-732b-9ab3-721ad3030963');
INSERT INTO public.uploads VALUES ('01a22555-629d-700d-9ad0-d5a17eba0d96', 'ada', 'empty', 'users/ada/01a22555-629d-700d-9ad0-d5a17eba0d96', 0, 'committed', 1795922742528, 1795922682538, 0, '{"file" : {"userId" : "ada", "name" : "empty", "version" : "01a22555-629d-700d-9ad0-d5a17eba0d96", "objectKey" : "users/ada/01a22555-629d-700d-9ad0-d5a17eba0d96", "size" : 0, "sha256" : "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "visibility" : "private", "createdAt" : 1795922682538, "updatedAt" : 1795922682538, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62ae-7481-8385-347bd2a63d62', 'ada', 'notes.txt', 'users/ada/01a22555-62ae-7481-8385-347bd2a63d62', 15, 'committed', 1795922742544, 1795922682551, 0, '{"file" : {"userId" : "ada", "name" : "notes.txt", "version" : "01a22555-62ae-7481-8385-347bd2a63d62", "objectKey" : "users/ada/01a22555-62ae-7481-8385-347bd2a63d62", "size" : 15, "sha256" : "30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814", "visibility" : "private", "createdAt" : 1795922682551, "updatedAt" : 1795922682551, "mediaType" : "text/plain", "metadata" : "{\"camera\":\"front door\"}", "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62ba-7122-9475-c119dbe87732', 'ada', 'größe 日本', 'users/ada/01a22555-62ba-7122-9475-c119dbe87732', 11, 'committed', 1795922742556, 1795922682560, 0, '{"file" : {"userId" : "ada", "name" : "größe 日本", "version" : "01a22555-62ba-7122-9475-c119dbe87732", "objectKey" : "users/ada/01a22555-62ba-7122-9475-c119dbe87732", "size" : 11, "sha256" : "5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a", "visibility" : "private", "createdAt" : 1795922682560, "updatedAt" : 1795922682560, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62c3-76cb-bf65-6cc3aa949d07', 'ada', 'film.mov', 'users/ada/01a22555-62c3-76cb-bf65-6cc3aa949d07', 300000, 'committed', 1795922742565, 1795922682598, 0, '{"file" : {"userId" : "ada", "name" : "film.mov", "version" : "01a22555-62c3-76cb-bf65-6cc3aa949d07", "objectKey" : "users/ada/01a22555-62c3-76cb-bf65-6cc3aa949d07", "size" : 300000, "sha256" : "f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60", "visibility" : "public", "createdAt" : 1795922682598, "updatedAt" : 1795922682598, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62ea-7e3c-ad14-a1b182790174', 'ada', 'replaced', 'users/ada/01a22555-62ea-7e3c-ad14-a1b182790174', 6, 'committed', 1795922742604, 1795922682609, 0, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a22555-62ea-7e3c-ad14-a1b182790174", "objectKey" : "users/ada/01a22555-62ea-7e3c-ad14-a1b182790174", "size" : 6, "sha256" : "6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb", "visibility" : "private", "createdAt" : 1795922682609, "updatedAt" : 1795922682609, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62f4-7334-b182-92de3360e123', 'ada', 'replaced', 'users/ada/01a22555-62f4-7334-b182-92de3360e123', 0, 'committed', 1795922742614, 1795922682619, 0, '{"file" : {"userId" : "ada", "name" : "replaced", "version" : "01a22555-62f4-7334-b182-92de3360e123", "objectKey" : "users/ada/01a22555-62f4-7334-b182-92de3360e123", "size" : 5, "sha256" : "f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8", "visibility" : "private", "createdAt" : 1795922682609, "updatedAt" : 1795922682619, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 1795922683000, "storedBy" : null}, "replaced" : true}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-62fe-7112-b815-c84071bd0050', 'ada', 'deleted', 'users/ada/01a22555-62fe-7112-b815-c84071bd0050', 10, 'committed', 1795922742623, 1795922682626, 0, '{"file" : {"userId" : "ada", "name" : "deleted", "version" : "01a22555-62fe-7112-b815-c84071bd0050", "objectKey" : "users/ada/01a22555-62fe-7112-b815-c84071bd0050", "size" : 10, "sha256" : "b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c", "visibility" : "private", "createdAt" : 1795922682626, "updatedAt" : 1795922682626, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 0, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-631b-7196-9fb7-2470256a63cb', 'ada', 'draft', 'users/ada/01a22555-631b-7196-9fb7-2470256a63cb', 16, 'committed', 1795922742655, 1795922682663, 0, '{"file" : {"userId" : "ada", "name" : "draft", "version" : "01a22555-631b-7196-9fb7-2470256a63cb", "objectKey" : "users/ada/01a22555-631b-7196-9fb7-2470256a63cb", "size" : 16, "sha256" : "96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6", "visibility" : "private", "createdAt" : 1795922682663, "updatedAt" : 1795922682663, "mediaType" : "text/plain;charset=UTF-8", "metadata" : null, "expiresAt" : 9007199254740991, "isKept" : 0, "metadataBytes" : 0, "modifiedAt" : 1795922683000, "storedBy" : null}, "replaced" : false}', 0, NULL, 0);
INSERT INTO public.uploads VALUES ('01a22555-673d-77f3-8038-3f593acdd16f', 'ada', 'cancelled', 'users/ada/01a22555-673d-77f3-8038-3f593acdd16f', 20, 'aborted', 1796009083824, 1795922683842, 1795922683843, NULL, 0, NULL, 4096);
INSERT INTO public.uploads VALUES ('01a22555-66ef-73de-8594-e2571c7550c1', 'ada', 'resumed', 'users/ada/01a22555-66ef-73de-8594-e2571c7550c1', 20, 'pending', 4102444800000, NULL, 0, NULL, 0, NULL, 0);
INSERT INTO public.users VALUES ('ada', 'active', 1795922682480);
INSERT INTO public.users VALUES ('bob', 'active', 1795922682486);
INSERT INTO public.users VALUES ('cyd', 'suspended', 1795922682489);
INSERT INTO public.webhook_queues VALUES ('ada', 0, NULL, 1795922682538, 1795922682538, 0, NULL);
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
CREATE INDEX history_unmarked ON public.history USING btree (ended_as, ended_at) WHERE (is_marked = 0);
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
