import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * Instances of the previous version record no changes: a client that follows during the upgrade misses those that they
 * commit.
 */
export function changes({
  bytewise,
  clustered,
}: Pick<Database, 'bytewise' | 'clustered'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise}`
  const statements = [
    sql`ALTER TABLE quotas ADD COLUMN change_count bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN changed_at bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN previously_changed_at bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN capacity_state text`,
    // Without a reference to `quotas`, whose row each writer has locked: the check would cost each commit.
    sql`CREATE TABLE changes (
      user_id ${text} NOT NULL,
      sequence bigint NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      previous_at bigint NOT NULL,
      name ${text},
      version ${text},
      size bigint,
      sha256 text,
      visibility text,
      previous_name ${text},
      capacity bigint,
      used bigint,
      PRIMARY KEY (user_id, sequence)
    ) ${clustered}`,
    sql`CREATE INDEX changes_by_time ON changes (at)`,
    ...PERIODS.map(createIndex),
  ]
  return {
    indexes: PERIODS,
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

const PERIODS: readonly MigrationIndex[] = [
  {
    name: 'grants_by_start',
    table: 'grants',
    definition: sql`(starts_at, user_id) WHERE starts_at IS NOT NULL`,
  },
  {
    name: 'grants_by_end',
    table: 'grants',
    definition: sql`(ends_at, user_id) WHERE ends_at IS NOT NULL`,
  },
]
