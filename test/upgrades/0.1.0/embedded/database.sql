CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE users (
      id text COLLATE BINARY NOT NULL PRIMARY KEY,
      status text NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
      created_at bigint NOT NULL
    );
CREATE TABLE access_tokens (
      sha256 text COLLATE BINARY NOT NULL PRIMARY KEY,
      token_id text COLLATE BINARY NOT NULL,
      user_id text COLLATE BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      label text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    , "scope" text, "device_id" text, "parent_id" text);
CREATE TABLE grants (
      user_id text COLLATE BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      source text COLLATE BINARY NOT NULL,
      reference text COLLATE BINARY NOT NULL,
      bytes bigint NOT NULL CHECK (bytes >= 0),
      model text,
      starts_at bigint,
      ends_at bigint,
      created_at bigint NOT NULL,
      revoked_at bigint,
      PRIMARY KEY (user_id, source, reference)
    );
CREATE TABLE quotas (
      user_id text COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      used_bytes bigint NOT NULL CHECK (used_bytes >= 0),
      reserved_bytes bigint NOT NULL CHECK (reserved_bytes >= 0),
      file_count bigint NOT NULL CHECK (file_count >= 0)
    , garbage_bytes bigint NOT NULL DEFAULT 0, change_count bigint NOT NULL DEFAULT 0, changed_at bigint NOT NULL DEFAULT 0, previously_changed_at bigint NOT NULL DEFAULT 0, capacity_state text, history_bytes bigint NOT NULL DEFAULT 0, history_count bigint NOT NULL DEFAULT 0, history_excess bigint NOT NULL DEFAULT 0);
CREATE TABLE files (
      user_id text COLLATE BINARY NOT NULL REFERENCES quotas (user_id),
      name text COLLATE BINARY NOT NULL,
      version text COLLATE BINARY NOT NULL UNIQUE,
      object_key text COLLATE BINARY NOT NULL,
      size bigint NOT NULL CHECK (size >= 0),
      sha256 text NOT NULL,
      visibility text NOT NULL CHECK (visibility IN ('private', 'users', 'public')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL, expires_at bigint NOT NULL DEFAULT 9007199254740991, is_kept bigint NOT NULL DEFAULT 0, "media_type" text, "metadata" text,
      PRIMARY KEY (user_id, name)
    );
CREATE TABLE uploads (
      version text COLLATE BINARY NOT NULL PRIMARY KEY,
      user_id text COLLATE BINARY NOT NULL REFERENCES quotas (user_id) ON DELETE CASCADE,
      name text COLLATE BINARY NOT NULL,
      object_key text COLLATE BINARY NOT NULL,
      reserved_bytes bigint NOT NULL CHECK (reserved_bytes >= 0),
      state text NOT NULL CHECK (state IN ('pending', 'committed', 'aborted')),
      lease_until bigint NOT NULL,
      settled_at bigint,
      outcome text, remove_at bigint NOT NULL DEFAULT 0, garbage_bytes bigint NOT NULL DEFAULT 0, is_evicting bigint NOT NULL DEFAULT 0,
      CHECK ((state = 'pending') = (settled_at IS NULL))
    );
CREATE TABLE garbage (
      object_key text COLLATE BINARY NOT NULL PRIMARY KEY,
      not_before bigint NOT NULL
    , bytes bigint NOT NULL DEFAULT 0, user_id text COLLATE BINARY
        REFERENCES quotas (user_id) ON DELETE SET NULL);
CREATE TABLE chores (
      name text COLLATE BINARY NOT NULL PRIMARY KEY,
      holder text NOT NULL,
      lease_until bigint NOT NULL
    );
CREATE TABLE resumable_uploads (
      version text COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES uploads (version) ON DELETE CASCADE,
      user_id text COLLATE BINARY NOT NULL,
      length_bytes bigint CHECK (length_bytes >= 0),
      announced_bytes bigint NOT NULL CHECK (announced_bytes >= 0),
      received_bytes bigint NOT NULL DEFAULT 0 CHECK (received_bytes >= 0),
      part_size bigint NOT NULL CHECK (part_size > 0),
      epoch bigint NOT NULL DEFAULT 0,
      holder text,
      holder_until bigint NOT NULL DEFAULT 0,
      stop_asked bigint NOT NULL DEFAULT 0,
      tail_key text COLLATE BINARY,
      store_state text NOT NULL DEFAULT '{}',
      metadata text NOT NULL,
      visibility text,
      precondition text,
      expected_sha256 text,
      sha256 text,
      sealed_at bigint,
      refusal text,
      ended_as text CHECK (ended_as IN ('cancelled', 'lost')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      ends_at bigint NOT NULL, link_id text, evict text, expires_in bigint,
      CHECK (length_bytes IS NULL OR received_bytes <= length_bytes),
      CHECK (sealed_at IS NULL OR (length_bytes IS NOT NULL AND received_bytes = length_bytes))
    );
CREATE TABLE upload_pieces (
      version text COLLATE BINARY NOT NULL REFERENCES uploads (version) ON DELETE CASCADE,
      first_byte bigint NOT NULL CHECK (first_byte >= 0),
      size bigint NOT NULL CHECK (size > 0),
      receipt text NOT NULL,
      object_key text COLLATE BINARY,
      PRIMARY KEY (version, first_byte)
    );
CREATE TABLE changes (
      user_id text COLLATE BINARY NOT NULL,
      sequence bigint NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      previous_at bigint NOT NULL,
      name text COLLATE BINARY,
      version text COLLATE BINARY,
      size bigint,
      sha256 text,
      visibility text,
      previous_name text COLLATE BINARY,
      capacity bigint,
      used bigint,
      PRIMARY KEY (user_id, sequence)
    ) WITHOUT ROWID;
CREATE TABLE webhook_queues (
      user_id text COLLATE BINARY PRIMARY KEY,
      delivered bigint NOT NULL,
      purged_at bigint,
      waiting_since bigint NOT NULL,
      due_at bigint NOT NULL,
      attempts bigint NOT NULL DEFAULT 0,
      failing_since bigint
    );
CREATE TABLE parked_webhooks (
      webhook_id text COLLATE BINARY PRIMARY KEY,
      user_id text COLLATE BINARY NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      body text NOT NULL,
      attempts bigint NOT NULL,
      reason text NOT NULL,
      parked_at bigint NOT NULL
    );
CREATE TABLE history (
      version text COLLATE BINARY NOT NULL PRIMARY KEY,
      user_id text COLLATE BINARY NOT NULL REFERENCES quotas (user_id),
      name text COLLATE BINARY NOT NULL,
      object_key text COLLATE BINARY NOT NULL,
      size bigint NOT NULL,
      sha256 text NOT NULL,
      visibility text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      ended_at bigint NOT NULL,
      ended_as text NOT NULL,
      is_marked bigint NOT NULL DEFAULT 0
    , "media_type" text, "metadata" text);
CREATE TABLE links (
      sha256 text COLLATE BINARY NOT NULL PRIMARY KEY,
      link_id text COLLATE BINARY NOT NULL,
      user_id text COLLATE BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_id text NOT NULL,
      device_id text,
      kind text NOT NULL,
      name text,
      prefix text,
      label text NOT NULL,
      password_hash text,
      max_uses bigint,
      uses bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      expires_at bigint
    );
INSERT INTO "kysely_migration" VALUES ('2026-11-21-initial','2026-11-28T00:17:42.524Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-21-list-files','2026-11-28T00:17:42.525Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-21-sweep-in-order','2026-11-28T00:17:42.526Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-22-guessing','2026-11-28T00:17:42.527Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-23-count-garbage','2026-11-28T00:17:42.528Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-23-resumable-uploads','2026-11-28T00:17:42.529Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-24-list-indexes','2026-11-28T00:17:42.557Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-24-uploads-as-garbage','2026-11-28T00:17:42.558Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-25-drop-guesses','2026-11-28T00:17:42.559Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-26-changes','2026-11-28T00:17:42.572Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-27-tokens-in-order','2026-11-28T00:17:42.589Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-27-webhooks','2026-11-28T00:17:42.590Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-28-history','2026-11-28T00:17:42.607Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-29-scoped-tokens','2026-11-28T00:17:42.608Z');
INSERT INTO "kysely_migration" VALUES ('2026-11-30-links','2026-11-28T00:17:42.609Z');
INSERT INTO "kysely_migration" VALUES ('2026-12-01-retention','2026-11-28T00:17:42.610Z');
INSERT INTO "kysely_migration" VALUES ('2026-12-01-retention-indexes','2026-11-28T00:17:42.611Z');
INSERT INTO "kysely_migration" VALUES ('2026-12-02-drop-changes-by-time','2026-11-28T00:17:42.617Z');
INSERT INTO "kysely_migration" VALUES ('2026-12-03-metadata','2026-11-28T00:17:42.618Z');
INSERT INTO "kysely_migration_lock" VALUES ('migration_lock',0);
INSERT INTO "users" VALUES ('ada','active',1795825064779);
INSERT INTO "users" VALUES ('bob','active',1795825065025);
INSERT INTO "users" VALUES ('cyd','suspended',1795825065041);
INSERT INTO "access_tokens" VALUES ('66e2e93f1adf22e780e642fbe854617cfae95639b1bbbf66710eb95a42884775','a59922e1-f013-4b89-a698-5406540c42c2','ada','',1795825065274,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "access_tokens" VALUES ('a77a60c384d9609038fc21773e60833e0d9e568cba41aec2c3489dddc56b5fbd','400e30c9-29ac-485c-9536-fffe9e86e8bc','ada','camera',1795825067043,NULL,NULL,NULL,'{"actions":["read","create"],"prefix":"cam1-"}',NULL,'a59922e1-f013-4b89-a698-5406540c42c2');
INSERT INTO "grants" VALUES ('ada','device','camera-17',1048576,NULL,NULL,NULL,1795825065078,NULL);
INSERT INTO "grants" VALUES ('ada','plan','yearly',1073741824,NULL,1767225600000,4102444800000,1795825065225,NULL);
INSERT INTO "quotas" VALUES ('ada',300047,20,6,4096,11,1795825066984,1795825066885,'normal',8208,2,0);
INSERT INTO "quotas" VALUES ('bob',0,0,0,0,0,0,0,'normal',0,0,0);
INSERT INTO "quotas" VALUES ('cyd',0,0,0,0,0,0,0,'normal',0,0,0);
INSERT INTO "files" VALUES ('ada','empty','01a21f83-df4e-754c-a04a-05735974f851','users/ada/01a21f83-df4e-754c-a04a-05735974f851',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','private',1795825066573,1795825066573,9007199254740991,0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "files" VALUES ('ada','notes.txt','01a21f83-e263-77e7-971c-c3660363fee8','users/ada/01a21f83-e263-77e7-971c-c3660363fee8',15,'30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814','private',1795825066605,1795825066605,9007199254740991,0,'text/plain','{"camera":"front door"}');
INSERT INTO "files" VALUES ('ada','größe 日本','01a21f83-e272-7cde-883e-4e9a608135af','users/ada/01a21f83-e272-7cde-883e-4e9a608135af',11,'5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a','private',1795825066651,1795825066651,9007199254740991,0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "files" VALUES ('ada','film.mov','01a21f83-e2a2-7f97-9d82-030ca12e8ed5','users/ada/01a21f83-e2a2-7f97-9d82-030ca12e8ed5',300000,'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60','public',1795825066715,1795825066715,9007199254740991,0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "files" VALUES ('ada','replaced','01a21f83-e2ec-7445-bd6b-9eb3cb1c4452','users/ada/01a21f83-e2ec-7445-bd6b-9eb3cb1c4452',5,'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8','private',1795825066725,1795825066748,9007199254740991,0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "files" VALUES ('ada','kept','01a21f83-e36a-79e1-b3d2-1c44a3d31a4a','users/ada/01a21f83-e36a-79e1-b3d2-1c44a3d31a4a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',1795825066874,1795825066984,4102444800000,1,'text/plain;charset=UTF-8',NULL);
INSERT INTO "uploads" VALUES ('01a21f83-df4e-754c-a04a-05735974f851','ada','empty','users/ada/01a21f83-df4e-754c-a04a-05735974f851',0,'committed',1795825125822,1795825066573,'{"file":{"userId":"ada","name":"empty","version":"01a21f83-df4e-754c-a04a-05735974f851","objectKey":"users/ada/01a21f83-df4e-754c-a04a-05735974f851","size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","visibility":"private","createdAt":1795825066573,"updatedAt":1795825066573,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e263-77e7-971c-c3660363fee8','ada','notes.txt','users/ada/01a21f83-e263-77e7-971c-c3660363fee8',15,'committed',1795825126595,1795825066605,'{"file":{"userId":"ada","name":"notes.txt","version":"01a21f83-e263-77e7-971c-c3660363fee8","objectKey":"users/ada/01a21f83-e263-77e7-971c-c3660363fee8","size":15,"sha256":"30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814","visibility":"private","createdAt":1795825066605,"updatedAt":1795825066605,"mediaType":"text/plain","metadata":"{\"camera\":\"front door\"}","expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e272-7cde-883e-4e9a608135af','ada','größe 日本','users/ada/01a21f83-e272-7cde-883e-4e9a608135af',11,'committed',1795825126610,1795825066651,'{"file":{"userId":"ada","name":"größe 日本","version":"01a21f83-e272-7cde-883e-4e9a608135af","objectKey":"users/ada/01a21f83-e272-7cde-883e-4e9a608135af","size":11,"sha256":"5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a","visibility":"private","createdAt":1795825066651,"updatedAt":1795825066651,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e2a2-7f97-9d82-030ca12e8ed5','ada','film.mov','users/ada/01a21f83-e2a2-7f97-9d82-030ca12e8ed5',300000,'committed',1795825126658,1795825066715,'{"file":{"userId":"ada","name":"film.mov","version":"01a21f83-e2a2-7f97-9d82-030ca12e8ed5","objectKey":"users/ada/01a21f83-e2a2-7f97-9d82-030ca12e8ed5","size":300000,"sha256":"f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60","visibility":"public","createdAt":1795825066715,"updatedAt":1795825066715,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e2df-7451-a8f7-d1cc789055d3','ada','replaced','users/ada/01a21f83-e2df-7451-a8f7-d1cc789055d3',6,'committed',1795825126719,1795825066725,'{"file":{"userId":"ada","name":"replaced","version":"01a21f83-e2df-7451-a8f7-d1cc789055d3","objectKey":"users/ada/01a21f83-e2df-7451-a8f7-d1cc789055d3","size":6,"sha256":"6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb","visibility":"private","createdAt":1795825066725,"updatedAt":1795825066725,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e2ec-7445-bd6b-9eb3cb1c4452','ada','replaced','users/ada/01a21f83-e2ec-7445-bd6b-9eb3cb1c4452',0,'committed',1795825126734,1795825066748,'{"file":{"userId":"ada","name":"replaced","version":"01a21f83-e2ec-7445-bd6b-9eb3cb1c4452","objectKey":"users/ada/01a21f83-e2ec-7445-bd6b-9eb3cb1c4452","size":5,"sha256":"f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8","visibility":"private","createdAt":1795825066725,"updatedAt":1795825066748,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":true}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e302-7779-be76-9740a583eab1','ada','deleted','users/ada/01a21f83-e302-7779-be76-9740a583eab1',10,'committed',1795825126755,1795825066758,'{"file":{"userId":"ada","name":"deleted","version":"01a21f83-e302-7779-be76-9740a583eab1","objectKey":"users/ada/01a21f83-e302-7779-be76-9740a583eab1","size":10,"sha256":"b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c","visibility":"private","createdAt":1795825066758,"updatedAt":1795825066758,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e36a-79e1-b3d2-1c44a3d31a4a','ada','draft','users/ada/01a21f83-e36a-79e1-b3d2-1c44a3d31a4a',16,'committed',1795825126859,1795825066874,'{"file":{"userId":"ada","name":"draft","version":"01a21f83-e36a-79e1-b3d2-1c44a3d31a4a","objectKey":"users/ada/01a21f83-e36a-79e1-b3d2-1c44a3d31a4a","size":16,"sha256":"96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6","visibility":"private","createdAt":1795825066874,"updatedAt":1795825066874,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0},"replaced":false}',0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e840-71d7-8c5a-8a8992ccb85a','ada','resumed','users/ada/01a21f83-e840-71d7-8c5a-8a8992ccb85a',20,'pending',4102444800000,NULL,NULL,0,0,0);
INSERT INTO "uploads" VALUES ('01a21f83-e8a7-751c-8e74-9c97de12e1bf','ada','cancelled','users/ada/01a21f83-e8a7-751c-8e74-9c97de12e1bf',20,'aborted',1795911468215,1795825068219,NULL,1795825068219,4096,0);
INSERT INTO "resumable_uploads" VALUES ('01a21f83-e840-71d7-8c5a-8a8992ccb85a','ada',20,20,8,8388608,1,NULL,0,0,NULL,'{"file":0}','filename cmVzdW1lZA==',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795825068119,1795825068196,4102444800000,NULL,NULL,NULL);
INSERT INTO "resumable_uploads" VALUES ('01a21f83-e8a7-751c-8e74-9c97de12e1bf','ada',20,20,8,8388608,1,NULL,0,1,NULL,'{"file":0}','',NULL,NULL,NULL,NULL,NULL,NULL,'cancelled',1795825068200,1795825068215,1796429868200,NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',1,'file.created',1795825066575,0,'empty','01a21f83-df4e-754c-a04a-05735974f851',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',2,'file.created',1795825066605,1795825066575,'notes.txt','01a21f83-e263-77e7-971c-c3660363fee8',15,'30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',3,'file.created',1795825066651,1795825066605,'größe 日本','01a21f83-e272-7cde-883e-4e9a608135af',11,'5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',4,'file.created',1795825066715,1795825066651,'film.mov','01a21f83-e2a2-7f97-9d82-030ca12e8ed5',300000,'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60','public',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',5,'file.created',1795825066725,1795825066715,'replaced','01a21f83-e2df-7451-a8f7-d1cc789055d3',6,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',6,'file.replaced',1795825066748,1795825066725,'replaced','01a21f83-e2ec-7445-bd6b-9eb3cb1c4452',5,'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',7,'file.created',1795825066758,1795825066748,'deleted','01a21f83-e302-7779-be76-9740a583eab1',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',8,'file.deleted',1795825066804,1795825066758,'deleted','01a21f83-e302-7779-be76-9740a583eab1',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',9,'file.created',1795825066874,1795825066804,'draft','01a21f83-e36a-79e1-b3d2-1c44a3d31a4a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',10,'file.renamed',1795825066885,1795825066874,'kept','01a21f83-e36a-79e1-b3d2-1c44a3d31a4a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private','draft',NULL,NULL);
INSERT INTO "changes" VALUES ('ada',11,'file.updated',1795825066984,1795825066885,'kept','01a21f83-e36a-79e1-b3d2-1c44a3d31a4a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',NULL,NULL,NULL);
INSERT INTO "webhook_queues" VALUES ('ada',0,NULL,1795825066575,1795825066575,0,NULL);
INSERT INTO "history" VALUES ('01a21f83-e2df-7451-a8f7-d1cc789055d3','ada','replaced','users/ada/01a21f83-e2df-7451-a8f7-d1cc789055d3',6,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb','private',1795825066725,1795825066725,1795825066749,'replaced',0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "history" VALUES ('01a21f83-e302-7779-be76-9740a583eab1','ada','deleted','users/ada/01a21f83-e302-7779-be76-9740a583eab1',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',1795825066758,1795825066758,1795825066804,'deleted',0,'text/plain;charset=UTF-8',NULL);
INSERT INTO "links" VALUES ('b06a21309430c0ac526a492409c2a6a54223ba08709022f15fe8840fa1ddbbea','01a21f83-e46b-7fee-b063-28fa3d7721de','ada','a59922e1-f013-4b89-a698-5406540c42c2',NULL,'download','notes.txt',NULL,'',NULL,NULL,0,1795825067129,NULL);
INSERT INTO "links" VALUES ('e14c55efeb17bb8714e0ecad94c1dbf6fada9a5a596bdab480fa16ebd4895d27','01a21f83-e7fe-72c1-bb9c-32fa897541e7','ada','a59922e1-f013-4b89-a698-5406540c42c2',NULL,'drop',NULL,'in-','','2Gv9C40zOSy57ebLrdvEpg:4KATQqL0TNu1kJ_Oc1ouRJwyHlrS25BoizQRBJtgqv0',5,0,1795825068031,NULL);
CREATE INDEX users_deleted ON users (id) WHERE status = 'deleted';
CREATE UNIQUE INDEX access_tokens_by_user ON access_tokens (user_id, token_id);
CREATE INDEX uploads_by_user ON uploads (user_id, state);
CREATE INDEX uploads_by_lease ON uploads (lease_until) WHERE state = 'pending';
CREATE INDEX "files_shared_by_name" ON "files" (user_id, name) WHERE visibility <> 'private';
CREATE INDEX "files_public_by_name" ON "files" (user_id, name) WHERE visibility = 'public';
CREATE INDEX uploads_to_remove ON uploads (remove_at, version) WHERE state = 'aborted';
CREATE INDEX "uploads_committed" ON "uploads" (settled_at) WHERE state = 'committed';
CREATE INDEX "garbage_in_order" ON "garbage" (not_before, object_key);
CREATE INDEX garbage_by_user ON garbage (user_id, not_before) WHERE user_id IS NOT NULL;
CREATE TRIGGER garbage_added AFTER INSERT ON garbage WHEN NEW.user_id IS NOT NULL BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes + NEW.bytes WHERE user_id = NEW.user_id; END;
CREATE TRIGGER garbage_removed AFTER DELETE ON garbage WHEN OLD.user_id IS NOT NULL BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.bytes WHERE user_id = OLD.user_id; END;
CREATE INDEX resumable_uploads_by_user ON resumable_uploads (user_id, version);
CREATE INDEX resumable_uploads_held ON resumable_uploads (holder) WHERE holder IS NOT NULL;
CREATE INDEX upload_pieces_tail ON upload_pieces (version, first_byte)
        WHERE object_key IS NOT NULL;
CREATE INDEX "files_listed_by_updated_at" ON "files" (user_id, "updated_at", name) WHERE "updated_at" >= 0 ;
CREATE INDEX "files_listed_by_size" ON "files" (user_id, "size", name) WHERE "size" >= 0 ;
CREATE INDEX "files_listed_shared_by_updated_at" ON "files" (user_id, "updated_at", name) WHERE "updated_at" >= 0 AND visibility <> 'private';
CREATE INDEX "files_listed_shared_by_size" ON "files" (user_id, "size", name) WHERE "size" >= 0 AND visibility <> 'private';
CREATE INDEX "files_listed_public_by_updated_at" ON "files" (user_id, "updated_at", name) WHERE "updated_at" >= 0 AND visibility = 'public';
CREATE INDEX "files_listed_public_by_size" ON "files" (user_id, "size", name) WHERE "size" >= 0 AND visibility = 'public';
CREATE INDEX "uploads_ended" ON "uploads" (user_id, settled_at) WHERE state = 'aborted';
CREATE TRIGGER ended_upload_removed AFTER DELETE ON uploads WHEN OLD.garbage_bytes > 0 BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.garbage_bytes WHERE user_id = OLD.user_id; END;
CREATE INDEX "grants_by_start" ON "grants" (starts_at, user_id) WHERE starts_at IS NOT NULL;
CREATE INDEX "grants_by_end" ON "grants" (ends_at, user_id) WHERE ends_at IS NOT NULL;
CREATE INDEX "access_tokens_by_creation" ON "access_tokens" (user_id, created_at, token_id);
CREATE INDEX "access_tokens_by_end" ON "access_tokens" (user_id, COALESCE(revoked_at, expires_at))
      WHERE COALESCE(revoked_at, expires_at) IS NOT NULL;
CREATE INDEX webhook_queues_due ON webhook_queues (due_at, user_id);
CREATE INDEX webhook_queues_by_age ON webhook_queues (waiting_since);
CREATE INDEX parked_webhooks_in_order ON parked_webhooks (parked_at, webhook_id);
CREATE INDEX quotas_to_trim ON quotas (user_id) WHERE history_excess > 0;
CREATE INDEX history_by_end ON history (user_id, ended_at, version);
CREATE INDEX history_by_name ON history (user_id, name, ended_at, version);
CREATE INDEX history_by_age ON history (ended_at);
CREATE INDEX history_unmarked ON history (ended_as, ended_at) WHERE is_marked = 0;
CREATE UNIQUE INDEX links_by_user ON links (user_id, link_id);
CREATE INDEX "files_by_expiry" ON "files" (expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX "files_of_user_by_expiry" ON "files" (user_id, expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX "resumable_uploads_by_link" ON "resumable_uploads" (link_id) WHERE link_id IS NOT NULL;
