import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/**
 * During the upgrade, instances of the previous version replace and delete files without a history, and purge no user
 * who has one. Their `verify --repair` takes past versions for orphans.
 */
export function history({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [
    sql`ALTER TABLE quotas ADD COLUMN history_bytes bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN history_count bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN history_excess bigint NOT NULL DEFAULT 0`,
    sql`CREATE INDEX quotas_to_trim ON quotas (user_id) WHERE history_excess > 0`,
    // As `files`, it does not cascade: no row may disappear before its object is in garbage.
    sql`CREATE TABLE history (
      version ${text} PRIMARY KEY,
      user_id ${text} REFERENCES quotas (user_id),
      name ${text},
      object_key ${text},
      size bigint NOT NULL,
      sha256 text NOT NULL,
      visibility text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      ended_at bigint NOT NULL,
      ended_as text NOT NULL,
      is_marked bigint NOT NULL DEFAULT 0
    )`,
    sql`CREATE INDEX history_by_end ON history (user_id, ended_at, version)`,
    sql`CREATE INDEX history_by_name ON history (user_id, name, ended_at, version)`,
    sql`CREATE INDEX history_by_age ON history (ended_at)`,
    sql`CREATE INDEX history_unmarked ON history (ended_as, ended_at) WHERE is_marked = 0`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
