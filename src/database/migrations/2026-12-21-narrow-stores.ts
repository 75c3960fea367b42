import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * During the upgrade, instances of the previous version record nobody as having stored the versions that they end, so
 * these count as the account's. Only they set and read `is_foreign`.
 */
export function narrowStores({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  return {
    async up(db) {
      await sql`ALTER TABLE history ADD COLUMN stored_by text COLLATE ${bytewise}`.execute(db)
    },
  }
}

/** Without the two indexes, instances of the previous version sort a user's versions each time they drop some. */
export function narrowStoresIndexes(): SchemaMigration {
  return {
    indexes: INDEXES,
    isApart: true,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
      await sql`DROP INDEX history_narrow_by_end`.execute(db)
      await sql`DROP INDEX history_by_credential`.execute(db)
    },
  }
}

// Versions that the account itself has stored and ended are in neither.
const CREDENTIAL = sql`COALESCE(ended_by, stored_by)`
const RANK = sql`CASE WHEN ended_by IS NULL THEN 1 WHEN ended_by = stored_by THEN 0 ELSE 2 END`
const CHARGED = sql`WHERE ${CREDENTIAL} IS NOT NULL AND is_protected = 0`

const INDEXES: readonly MigrationIndex[] = [
  {
    name: 'history_charged_by_end',
    table: 'history',
    definition: sql`(user_id, ended_at, version) ${CHARGED}`,
  },
  {
    name: 'history_by_charged',
    table: 'history',
    definition: sql`(user_id, (${CREDENTIAL}), (${RANK}), ended_at, version) ${CHARGED}`,
  },
]
