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
      last_used_at bigint,
      scope text,
      device_id text,
      parent_id text,
      credential text COLLATE BINARY
    );
CREATE TABLE links (
      sha256 text COLLATE BINARY NOT NULL PRIMARY KEY,
      link_id text COLLATE BINARY NOT NULL,
      user_id text COLLATE BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_id text NOT NULL,
      device_id text,
      credential text COLLATE BINARY,
      kind text NOT NULL,
      name text,
      prefix text,
      label text NOT NULL,
      password_hash text,
      max_uses bigint,
      uses bigint NOT NULL DEFAULT 0,
      use_fraction bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      expires_at bigint
    );
CREATE TABLE grants (
      user_id text COLLATE BINARY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      source text COLLATE BINARY NOT NULL,
      reference text COLLATE BINARY NOT NULL,
      bytes bigint NOT NULL CHECK (bytes >= 0),
      model text,
      starts_at bigint,
      ends_at bigint,
      created_at bigint NOT NULL,
      PRIMARY KEY (user_id, source, reference)
    );
CREATE TABLE quotas (
      user_id text COLLATE BINARY NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      used_bytes bigint NOT NULL CHECK (used_bytes >= 0),
      reserved_bytes bigint NOT NULL CHECK (reserved_bytes >= 0),
      file_count bigint NOT NULL CHECK (file_count >= 0),
      garbage_bytes bigint NOT NULL DEFAULT 0,
      history_bytes bigint NOT NULL DEFAULT 0,
      history_count bigint NOT NULL DEFAULT 0,
      history_protected bigint NOT NULL DEFAULT 0,
      history_excess bigint NOT NULL DEFAULT 0,
      change_count bigint NOT NULL DEFAULT 0,
      changed_at bigint NOT NULL DEFAULT 0,
      previously_changed_at bigint NOT NULL DEFAULT 0,
      newest_at bigint NOT NULL DEFAULT 0,
      freed_at bigint NOT NULL DEFAULT 0,
      capacity_state text
    );
CREATE TABLE files (
      user_id text COLLATE BINARY NOT NULL REFERENCES quotas (user_id),
      name text COLLATE BINARY NOT NULL,
      version text COLLATE BINARY NOT NULL UNIQUE,
      object_key text COLLATE BINARY NOT NULL,
      size bigint NOT NULL CHECK (size >= 0),
      sha256 text NOT NULL,
      visibility text NOT NULL CHECK (visibility IN ('private', 'users', 'public')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      modified_at bigint NOT NULL DEFAULT 0,
      media_type text,
      metadata text,
      metadata_bytes bigint NOT NULL DEFAULT 0,
      expires_at bigint NOT NULL DEFAULT 9007199254740991,
      is_kept bigint NOT NULL DEFAULT 0,
      stored_by text COLLATE BINARY,
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
      remove_at bigint NOT NULL DEFAULT 0,
      outcome text,
      is_evicting bigint NOT NULL DEFAULT 0,
      credential text COLLATE BINARY,
      garbage_bytes bigint NOT NULL DEFAULT 0,
      CHECK ((state = 'pending') = (settled_at IS NULL))
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
      link_id text,
      evict text,
      expires_in bigint,
      expected_sha256 text,
      sha256 text,
      sealed_at bigint,
      refusal text,
      ended_as text CHECK (ended_as IN ('cancelled', 'lost')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      ends_at bigint NOT NULL,
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
CREATE TABLE garbage (
      object_key text COLLATE BINARY NOT NULL PRIMARY KEY,
      not_before bigint NOT NULL,
      bytes bigint NOT NULL DEFAULT 0,
      -- The next user with this id has none of this garbage.
      user_id text COLLATE BINARY REFERENCES quotas (user_id) ON DELETE SET NULL
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
      media_type text,
      metadata text,
      expires_at bigint NOT NULL DEFAULT 9007199254740991,
      stored_by text COLLATE BINARY,
      ended_at bigint NOT NULL,
      ended_as text NOT NULL,
      ended_by text COLLATE BINARY,
      is_protected bigint NOT NULL DEFAULT 0
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
CREATE TABLE daily_usage (
      day bigint PRIMARY KEY,
      users bigint NOT NULL,
      files bigint NOT NULL,
      used_bytes bigint NOT NULL
    ) WITHOUT ROWID;
CREATE TABLE operator_actions (
      action_id text COLLATE BINARY PRIMARY KEY,
      at bigint NOT NULL,
      action text NOT NULL,
      user_id text COLLATE BINARY,
      details text NOT NULL,
      address text,
      request_id text
    );
CREATE TABLE object_store (
      id bigint PRIMARY KEY CHECK (id = 1),
      identity text COLLATE BINARY NOT NULL,
      is_confirmed bigint NOT NULL
    );
CREATE TABLE leader_leases (
      name text COLLATE BINARY NOT NULL PRIMARY KEY,
      holder text NOT NULL,
      lease_until bigint NOT NULL
    );
INSERT INTO "kysely_migration" VALUES ('2026-11-29-initial','2026-11-29T08:37:22.002Z');
INSERT INTO "kysely_migration_lock" VALUES ('migration_lock',0);
INSERT INTO "users" VALUES ('ada','active',1795941443209);
INSERT INTO "users" VALUES ('bob','active',1795941443297);
INSERT INTO "users" VALUES ('cyd','suspended',1795941443312);
INSERT INTO "access_tokens" VALUES ('53db2bd02d235b333a32a1d9d153216334fc1f54a6e443f1268027084e5ecc4a','8341d84d-3b5b-47b3-9940-0f0e209255b7','ada','',1795941443455,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "access_tokens" VALUES ('c4b7c1a2f0725c6bf7d043cefa48b88fda8ea5f09f5f00de3a5cdf3cb387320d','c67acbef-5ed8-45f2-a9db-bec1b6b1924f','ada','camera',1795941443895,NULL,NULL,NULL,'{"actions":["read","create"],"prefix":"cam1-","when_full":"refuse"}',NULL,'8341d84d-3b5b-47b3-9940-0f0e209255b7',NULL);
INSERT INTO "links" VALUES ('85fff49c188e600bcde535bb3be0b3bfa898cf809685d662de84e2bdbc8c975b','01a22673-a95d-7597-9f73-07037d3071dc','ada','8341d84d-3b5b-47b3-9940-0f0e209255b7',NULL,NULL,'download','notes.txt',NULL,'',NULL,NULL,0,0,1795941443936,NULL);
INSERT INTO "links" VALUES ('cf76e17b560d464ae3090e15d5a90f2a4008cfe6cf5227207043d9f431773e21','01a22673-ac11-7627-9aea-ed608cdf2273','ada','8341d84d-3b5b-47b3-9940-0f0e209255b7',NULL,NULL,'drop',NULL,'in-','','Ha4NxMb9Qk3Eya02IFTJFg:iBvSghpZcbkxljLtI8g0nlFaZJq3L4mEDV24vnMqDhY',5,0,0,1795941444626,NULL);
INSERT INTO "grants" VALUES ('ada','device','camera-17',1048576,NULL,NULL,NULL,1795941443403);
INSERT INTO "grants" VALUES ('ada','plan','yearly',1073741824,NULL,1767225600000,4102444800000,1795941443425);
INSERT INTO "quotas" VALUES ('ada',300047,20,6,4096,8208,2,0,0,11,1795941443872,1795941443850,1795941443872,1795941444000,'normal');
INSERT INTO "quotas" VALUES ('bob',0,0,0,0,0,0,0,0,0,0,0,0,0,'normal');
INSERT INTO "quotas" VALUES ('cyd',0,0,0,0,0,0,0,0,0,0,0,0,0,'normal');
INSERT INTO "files" VALUES ('ada','empty','01a22673-a7cd-7f98-ad8f-c05e67db5242','users/ada/01a22673-a7cd-7f98-ad8f-c05e67db5242',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','private',1795941443772,1795941443772,0,'text/plain;charset=UTF-8',NULL,0,9007199254740991,0,NULL);
INSERT INTO "files" VALUES ('ada','notes.txt','01a22673-a8c9-74ba-b41e-e2d03d5d2bae','users/ada/01a22673-a8c9-74ba-b41e-e2d03d5d2bae',15,'30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814','private',1795941443790,1795941443790,0,'text/plain','{"camera":"front door"}',0,9007199254740991,0,NULL);
INSERT INTO "files" VALUES ('ada','größe 日本','01a22673-a8d1-7e46-90da-9ce10ad2f708','users/ada/01a22673-a8d1-7e46-90da-9ce10ad2f708',11,'5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a','private',1795941443796,1795941443796,0,'text/plain;charset=UTF-8',NULL,0,9007199254740991,0,NULL);
INSERT INTO "files" VALUES ('ada','film.mov','01a22673-a8d8-708d-986d-fd65da6fef12','users/ada/01a22673-a8d8-708d-986d-fd65da6fef12',300000,'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60','public',1795941443814,1795941443814,0,'text/plain;charset=UTF-8',NULL,0,9007199254740991,0,NULL);
INSERT INTO "files" VALUES ('ada','replaced','01a22673-a8ed-7872-9b59-95089b2c510a','users/ada/01a22673-a8ed-7872-9b59-95089b2c510a',5,'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8','private',1795941443819,1795941443823,1795941444000,'text/plain;charset=UTF-8',NULL,0,9007199254740991,0,NULL);
INSERT INTO "files" VALUES ('ada','kept','01a22673-a901-7056-84af-78349b51d60a','users/ada/01a22673-a901-7056-84af-78349b51d60a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',1795941443845,1795941443872,1795941445000,'text/plain;charset=UTF-8',NULL,0,4102444800000,1,NULL);
INSERT INTO "uploads" VALUES ('01a22673-a7cd-7f98-ad8f-c05e67db5242','ada','empty','users/ada/01a22673-a7cd-7f98-ad8f-c05e67db5242',0,'committed',1795941503535,1795941443772,0,'{"file":{"userId":"ada","name":"empty","version":"01a22673-a7cd-7f98-ad8f-c05e67db5242","objectKey":"users/ada/01a22673-a7cd-7f98-ad8f-c05e67db5242","size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","visibility":"private","createdAt":1795941443772,"updatedAt":1795941443772,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8c9-74ba-b41e-e2d03d5d2bae','ada','notes.txt','users/ada/01a22673-a8c9-74ba-b41e-e2d03d5d2bae',15,'committed',1795941503786,1795941443790,0,'{"file":{"userId":"ada","name":"notes.txt","version":"01a22673-a8c9-74ba-b41e-e2d03d5d2bae","objectKey":"users/ada/01a22673-a8c9-74ba-b41e-e2d03d5d2bae","size":15,"sha256":"30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814","visibility":"private","createdAt":1795941443790,"updatedAt":1795941443790,"mediaType":"text/plain","metadata":"{\"camera\":\"front door\"}","expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8d1-7e46-90da-9ce10ad2f708','ada','größe 日本','users/ada/01a22673-a8d1-7e46-90da-9ce10ad2f708',11,'committed',1795941503794,1795941443796,0,'{"file":{"userId":"ada","name":"größe 日本","version":"01a22673-a8d1-7e46-90da-9ce10ad2f708","objectKey":"users/ada/01a22673-a8d1-7e46-90da-9ce10ad2f708","size":11,"sha256":"5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a","visibility":"private","createdAt":1795941443796,"updatedAt":1795941443796,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8d8-708d-986d-fd65da6fef12','ada','film.mov','users/ada/01a22673-a8d8-708d-986d-fd65da6fef12',300000,'committed',1795941503800,1795941443814,0,'{"file":{"userId":"ada","name":"film.mov","version":"01a22673-a8d8-708d-986d-fd65da6fef12","objectKey":"users/ada/01a22673-a8d8-708d-986d-fd65da6fef12","size":300000,"sha256":"f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60","visibility":"public","createdAt":1795941443814,"updatedAt":1795941443814,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8e9-7bdc-b744-090afc26e246','ada','replaced','users/ada/01a22673-a8e9-7bdc-b744-090afc26e246',6,'committed',1795941503817,1795941443819,0,'{"file":{"userId":"ada","name":"replaced","version":"01a22673-a8e9-7bdc-b744-090afc26e246","objectKey":"users/ada/01a22673-a8e9-7bdc-b744-090afc26e246","size":6,"sha256":"6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb","visibility":"private","createdAt":1795941443819,"updatedAt":1795941443819,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8ed-7872-9b59-95089b2c510a','ada','replaced','users/ada/01a22673-a8ed-7872-9b59-95089b2c510a',0,'committed',1795941503821,1795941443823,0,'{"file":{"userId":"ada","name":"replaced","version":"01a22673-a8ed-7872-9b59-95089b2c510a","objectKey":"users/ada/01a22673-a8ed-7872-9b59-95089b2c510a","size":5,"sha256":"f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8","visibility":"private","createdAt":1795941443819,"updatedAt":1795941443823,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":1795941444000,"storedBy":null},"replaced":true}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a8f1-739e-8c7f-f7ab60e99e31','ada','deleted','users/ada/01a22673-a8f1-739e-8c7f-f7ab60e99e31',10,'committed',1795941503826,1795941443827,0,'{"file":{"userId":"ada","name":"deleted","version":"01a22673-a8f1-739e-8c7f-f7ab60e99e31","objectKey":"users/ada/01a22673-a8f1-739e-8c7f-f7ab60e99e31","size":10,"sha256":"b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c","visibility":"private","createdAt":1795941443827,"updatedAt":1795941443827,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":0,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-a901-7056-84af-78349b51d60a','ada','draft','users/ada/01a22673-a901-7056-84af-78349b51d60a',16,'committed',1795941503842,1795941443845,0,'{"file":{"userId":"ada","name":"draft","version":"01a22673-a901-7056-84af-78349b51d60a","objectKey":"users/ada/01a22673-a901-7056-84af-78349b51d60a","size":16,"sha256":"96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6","visibility":"private","createdAt":1795941443845,"updatedAt":1795941443845,"mediaType":"text/plain;charset=UTF-8","metadata":null,"expiresAt":9007199254740991,"isKept":0,"metadataBytes":0,"modifiedAt":1795941444000,"storedBy":null},"replaced":false}',0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-ac1d-7b5a-8d08-c1360477f9da','ada','resumed','users/ada/01a22673-ac1d-7b5a-8d08-c1360477f9da',20,'pending',4102444800000,NULL,0,NULL,0,NULL,0);
INSERT INTO "uploads" VALUES ('01a22673-ac6e-7326-b8a7-6dcae270ad5f','ada','cancelled','users/ada/01a22673-ac6e-7326-b8a7-6dcae270ad5f',20,'aborted',1796027844726,1795941444729,1795941444729,NULL,0,NULL,4096);
INSERT INTO "resumable_uploads" VALUES ('01a22673-ac1d-7b5a-8d08-c1360477f9da','ada',20,20,8,8388608,1,NULL,0,0,NULL,'{"file":0}','filename cmVzdW1lZA==',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795941444641,1795941444715,4102444800000);
INSERT INTO "resumable_uploads" VALUES ('01a22673-ac6e-7326-b8a7-6dcae270ad5f','ada',20,20,8,8388608,1,NULL,0,1,NULL,'{"file":0}','',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'cancelled',1795941444719,1795941444726,1796546244719);
INSERT INTO "history" VALUES ('01a22673-a8e9-7bdc-b744-090afc26e246','ada','replaced','users/ada/01a22673-a8e9-7bdc-b744-090afc26e246',6,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb','private',1795941443819,1795941443819,'text/plain;charset=UTF-8',NULL,9007199254740991,NULL,1795941443823,'replaced',NULL,0);
INSERT INTO "history" VALUES ('01a22673-a8f1-739e-8c7f-f7ab60e99e31','ada','deleted','users/ada/01a22673-a8f1-739e-8c7f-f7ab60e99e31',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',1795941443827,1795941443827,'text/plain;charset=UTF-8',NULL,9007199254740991,NULL,1795941443836,'deleted',NULL,0);
INSERT INTO "changes" VALUES ('ada',1,'file.created',1795941443772,0,'empty','01a22673-a7cd-7f98-ad8f-c05e67db5242',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',2,'file.created',1795941443790,1795941443772,'notes.txt','01a22673-a8c9-74ba-b41e-e2d03d5d2bae',15,'30e683206bcbf9614b24ad4834cb3956db19756185c84c5dc4fde5bfbf93d814','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',3,'file.created',1795941443796,1795941443790,'größe 日本','01a22673-a8d1-7e46-90da-9ce10ad2f708',11,'5e9edc57733a3497c28ec5a693e847e0f9eebd9275ff6d29a68515fffe1b6d1a','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',4,'file.created',1795941443814,1795941443796,'film.mov','01a22673-a8d8-708d-986d-fd65da6fef12',300000,'f1abb8e523bf3484cf8cb64e0a51a6a458f98720ccd336d3f11bcf994eab1f60','public',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',5,'file.created',1795941443819,1795941443814,'replaced','01a22673-a8e9-7bdc-b744-090afc26e246',6,'6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',6,'file.replaced',1795941443823,1795941443819,'replaced','01a22673-a8ed-7872-9b59-95089b2c510a',5,'f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',7,'file.created',1795941443827,1795941443823,'deleted','01a22673-a8f1-739e-8c7f-f7ab60e99e31',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',8,'file.deleted',1795941443836,1795941443827,'deleted','01a22673-a8f1-739e-8c7f-f7ab60e99e31',10,'b92f8be375456c97bfc7f0381a4c0d8ec894a148aa05e4413c1644d8f8f9526c','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',9,'file.created',1795941443845,1795941443836,'draft','01a22673-a901-7056-84af-78349b51d60a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',NULL,NULL,NULL);
INSERT INTO "changes" VALUES ('ada',10,'file.renamed',1795941443850,1795941443845,'kept','01a22673-a901-7056-84af-78349b51d60a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private','draft',NULL,NULL);
INSERT INTO "changes" VALUES ('ada',11,'file.updated',1795941443872,1795941443850,'kept','01a22673-a901-7056-84af-78349b51d60a',16,'96cc7c13cf70bbf06b00b6ae1a30f6dfd2c84ad78b106d3558ae2dace48ec8b6','private',NULL,NULL,NULL);
INSERT INTO "webhook_queues" VALUES ('ada',0,NULL,1795941443772,1795941443772,0,NULL);
INSERT INTO "operator_actions" VALUES ('01a22673-a68d-756d-b78a-413b5b93fa4c',1795941443213,'user.create','ada','{}','127.0.0.1','c0da29e5-4607-450b-bd37-722d4d01449f');
INSERT INTO "operator_actions" VALUES ('01a22673-a6e3-7276-8bbc-5df9174bbc9d',1795941443299,'user.create','bob','{}','127.0.0.1','b0983397-930f-4751-938e-bf8c416a86cc');
INSERT INTO "operator_actions" VALUES ('01a22673-a6f5-72a6-8ff5-d5e3e9b2a5fe',1795941443319,'user.create','cyd','{}','127.0.0.1','c374cbe1-7edc-4bb5-973a-63deb27730a0');
INSERT INTO "operator_actions" VALUES ('01a22673-a752-7dd1-9d49-58e2ccbd4d87',1795941443410,'device.put','ada','{"device_id":"camera-17","bytes":1048576,"created":true}','127.0.0.1','3449b52a-6156-45fe-8180-cd1a14d6ebd4');
INSERT INTO "operator_actions" VALUES ('01a22673-a76b-7e05-a201-79fd3ffac867',1795941443435,'grant.put','ada','{"source":"plan","reference":"yearly","bytes":1073741824,"starts_at":"2026-01-01T00:00:00.000Z","ends_at":"2100-01-01T00:00:00.000Z","created":true}','127.0.0.1','1a98f861-9b52-4e98-8bcc-4129037a17f6');
INSERT INTO "operator_actions" VALUES ('01a22673-a788-763f-82b7-ebd6ca0d346f',1795941443464,'access_token.issue','ada','{"token_id":"8341d84d-3b5b-47b3-9940-0f0e209255b7","label":""}','127.0.0.1','23b479c1-2d35-4291-98d3-a4e3b55a7a52');
INSERT INTO "operator_actions" VALUES ('01a22673-a7a8-7367-8376-efeecb333203',1795941443497,'user.set_status','cyd','{"status":"suspended"}','127.0.0.1','643651e1-2c70-4755-961e-9867afe0a2f8');
INSERT INTO "object_store" VALUES (1,'105d4f01-d83d-4977-b046-077b0bb7093f',1);
CREATE INDEX users_deleted ON users (id) WHERE status = 'deleted';
CREATE INDEX users_suspended ON users (id) WHERE status = 'suspended';
CREATE INDEX users_by_creation ON users (created_at, id);
CREATE UNIQUE INDEX access_tokens_by_user ON access_tokens (user_id, token_id);
CREATE INDEX access_tokens_by_creation ON access_tokens (user_id, created_at, token_id);
CREATE INDEX access_tokens_by_end ON access_tokens (user_id, COALESCE(revoked_at, expires_at))
      WHERE COALESCE(revoked_at, expires_at) IS NOT NULL;
CREATE UNIQUE INDEX links_by_user ON links (user_id, link_id);
CREATE INDEX grants_by_start ON grants (starts_at, user_id) WHERE starts_at IS NOT NULL;
CREATE INDEX grants_by_end ON grants (ends_at, user_id) WHERE ends_at IS NOT NULL;
CREATE INDEX quotas_to_trim ON quotas (user_id) WHERE history_excess > 0;
CREATE INDEX files_shared_by_name ON files (user_id, name) WHERE visibility <> 'private';
CREATE INDEX files_public_by_name ON files (user_id, name) WHERE visibility = 'public';
CREATE INDEX "files_listed_by_updated_at" ON files (user_id, "updated_at", name)
          WHERE "updated_at" >= 0 ;
CREATE INDEX "files_listed_by_size" ON files (user_id, "size", name)
          WHERE "size" >= 0 ;
CREATE INDEX "files_listed_shared_by_updated_at" ON files (user_id, "updated_at", name)
          WHERE "updated_at" >= 0 AND visibility <> 'private';
CREATE INDEX "files_listed_shared_by_size" ON files (user_id, "size", name)
          WHERE "size" >= 0 AND visibility <> 'private';
CREATE INDEX "files_listed_public_by_updated_at" ON files (user_id, "updated_at", name)
          WHERE "updated_at" >= 0 AND visibility = 'public';
CREATE INDEX "files_listed_public_by_size" ON files (user_id, "size", name)
          WHERE "size" >= 0 AND visibility = 'public';
CREATE INDEX files_by_expiry ON files (expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX files_of_user_by_expiry ON files (user_id, expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX uploads_by_user ON uploads (user_id, state);
CREATE INDEX uploads_by_lease ON uploads (lease_until) WHERE state = 'pending';
CREATE INDEX uploads_to_remove ON uploads (remove_at, version) WHERE state = 'aborted';
CREATE INDEX uploads_ended ON uploads (user_id, settled_at) WHERE state = 'aborted';
CREATE INDEX uploads_committed ON uploads (settled_at) WHERE state = 'committed';
CREATE INDEX resumable_uploads_by_user ON resumable_uploads (user_id, version);
CREATE INDEX resumable_uploads_held ON resumable_uploads (holder) WHERE holder IS NOT NULL;
CREATE INDEX resumable_uploads_by_link ON resumable_uploads (link_id)
      WHERE link_id IS NOT NULL;
CREATE INDEX upload_pieces_tail ON upload_pieces (version, first_byte)
      WHERE object_key IS NOT NULL;
CREATE INDEX garbage_in_order ON garbage (not_before, object_key);
CREATE INDEX garbage_by_user ON garbage (user_id, not_before) WHERE user_id IS NOT NULL;
CREATE TRIGGER garbage_added AFTER INSERT ON garbage WHEN NEW.user_id IS NOT NULL BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes + NEW.bytes WHERE user_id = NEW.user_id; END;
CREATE TRIGGER garbage_removed AFTER DELETE ON garbage WHEN OLD.user_id IS NOT NULL BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.bytes WHERE user_id = OLD.user_id; END;
CREATE TRIGGER ended_upload_removed AFTER DELETE ON uploads WHEN OLD.garbage_bytes > 0 BEGIN UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.garbage_bytes WHERE user_id = OLD.user_id; END;
CREATE INDEX history_by_end ON history (user_id, ended_at, version);
CREATE INDEX history_by_name ON history (user_id, name, ended_at, version);
CREATE INDEX history_by_age ON history (ended_at);
CREATE INDEX history_by_expiry ON history (expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX history_of_user_by_expiry ON history (user_id, expires_at) WHERE expires_at < 9007199254740991;
CREATE INDEX history_protected ON history (ended_at) WHERE is_protected = 1;
CREATE INDEX history_of_user_protected ON history (user_id, ended_at, version) WHERE is_protected = 1;
CREATE INDEX history_charged_by_end ON history (user_id, ended_at, version) WHERE COALESCE(ended_by, stored_by) IS NOT NULL AND is_protected = 0;
CREATE INDEX history_by_charged
      ON history (user_id, (COALESCE(ended_by, stored_by)), (CASE WHEN ended_by IS NULL THEN 1 WHEN ended_by = stored_by THEN 0 ELSE 2 END), ended_at, version) WHERE COALESCE(ended_by, stored_by) IS NOT NULL AND is_protected = 0;
CREATE INDEX webhook_queues_due ON webhook_queues (due_at, user_id);
CREATE INDEX webhook_queues_by_age ON webhook_queues (waiting_since);
CREATE INDEX parked_webhooks_in_order ON parked_webhooks (parked_at, webhook_id);
CREATE INDEX operator_actions_by_user ON operator_actions (user_id, action_id);
