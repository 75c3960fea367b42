import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export function initial(bytewise: RawBuilder<unknown>): Migration {
  const name = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [...userTables(name), ...fileTables(name)]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

const size = sql`bigint NOT NULL CHECK`

function userTables(name: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    sql`CREATE TABLE users (
      id ${name} PRIMARY KEY,
      status text NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
      created_at bigint NOT NULL
    )`,
    sql`CREATE INDEX users_deleted ON users (id) WHERE status = 'deleted'`,
    sql`CREATE TABLE access_tokens (
      sha256 ${name} PRIMARY KEY,
      token_id ${name},
      user_id ${name} REFERENCES users (id) ON DELETE CASCADE,
      label text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    )`,
    sql`CREATE UNIQUE INDEX access_tokens_by_user ON access_tokens (user_id, token_id)`,
    sql`CREATE TABLE grants (
      user_id ${name} REFERENCES users (id) ON DELETE CASCADE,
      source ${name},
      reference ${name},
      bytes ${size} (bytes >= 0),
      model text,
      starts_at bigint,
      ends_at bigint,
      created_at bigint NOT NULL,
      revoked_at bigint,
      PRIMARY KEY (user_id, source, reference)
    )`,
    sql`CREATE TABLE quotas (
      user_id ${name} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      used_bytes ${size} (used_bytes >= 0),
      reserved_bytes ${size} (reserved_bytes >= 0),
      file_count ${size} (file_count >= 0)
    )`,
  ]
}

// Files and uploads reference the quota row, which their writers have locked, so that the check adds no lock. Files do
// not cascade: none may disappear before its object is in garbage.
function fileTables(name: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    sql`CREATE TABLE files (
      user_id ${name} REFERENCES quotas (user_id),
      name ${name},
      version ${name} UNIQUE,
      object_key ${name},
      size ${size} (size >= 0),
      sha256 text NOT NULL,
      visibility text NOT NULL CHECK (visibility IN ('private', 'users', 'public')),
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (user_id, name)
    )`,
    sql`CREATE TABLE uploads (
      version ${name} PRIMARY KEY,
      user_id ${name} REFERENCES quotas (user_id) ON DELETE CASCADE,
      name ${name},
      object_key ${name},
      reserved_bytes ${size} (reserved_bytes >= 0),
      state text NOT NULL CHECK (state IN ('pending', 'committed', 'aborted')),
      lease_until bigint NOT NULL,
      settled_at bigint,
      outcome text,
      CHECK ((state = 'pending') = (settled_at IS NULL))
    )`,
    sql`CREATE INDEX uploads_by_user ON uploads (user_id, state)`,
    sql`CREATE INDEX uploads_by_lease ON uploads (lease_until) WHERE state = 'pending'`,
    sql`CREATE INDEX uploads_aborted ON uploads (version) WHERE state = 'aborted'`,
    sql`CREATE INDEX uploads_settled ON uploads (settled_at) WHERE settled_at IS NOT NULL`,
    sql`CREATE TABLE garbage (
      object_key ${name} PRIMARY KEY,
      not_before bigint NOT NULL
    )`,
    sql`CREATE INDEX garbage_due ON garbage (not_before)`,
  ]
}
