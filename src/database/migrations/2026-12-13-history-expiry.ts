import { sql } from 'kysely'
import { NEVER } from '../../core/files/file.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** During the upgrade, instances of the previous version keep the expiry of no file that they replace or delete. */
export function historyExpiry(): SchemaMigration {
  return {
    async up(db) {
      await sql`
        ALTER TABLE history ADD COLUMN expires_at bigint NOT NULL DEFAULT ${sql.lit(NEVER)}
      `.execute(db)
    },
  }
}

/** A migration of its own, because PostgreSQL builds them during requests, on a column that is there. */
export function historyExpiryIndexes(): SchemaMigration {
  return {
    indexes: INDEXES,
    isApart: true,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
    },
  }
}

const EXPIRING = sql`WHERE expires_at < ${sql.lit(NEVER)}`

const INDEXES: readonly MigrationIndex[] = [
  { name: 'history_by_expiry', table: 'history', definition: sql`(expires_at) ${EXPIRING}` },
  {
    name: 'history_of_user_by_expiry',
    table: 'history',
    definition: sql`(user_id, expires_at) ${EXPIRING}`,
  },
]
