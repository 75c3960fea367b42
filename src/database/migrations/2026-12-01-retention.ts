import { sql } from 'kysely'
import { NEVER } from '../../core/files/file.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** During the upgrade, instances of the previous version find files that have expired, and keep no expiry they replace. */
export function retention(): SchemaMigration {
  const statements = [
    sql`ALTER TABLE files ADD COLUMN expires_at bigint NOT NULL DEFAULT ${sql.lit(NEVER)}`,
    sql`ALTER TABLE files ADD COLUMN is_kept bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE uploads ADD COLUMN is_evicting bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE resumable_uploads ADD COLUMN evict text`,
    sql`ALTER TABLE resumable_uploads ADD COLUMN expires_in bigint`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

/** A migration of its own, because PostgreSQL builds them during requests, on columns that are there. */
export function expiryIndexes(): SchemaMigration {
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
  { name: 'files_by_expiry', table: 'files', definition: sql`(expires_at) ${EXPIRING}` },
  {
    name: 'files_of_user_by_expiry',
    table: 'files',
    definition: sql`(user_id, expires_at) ${EXPIRING}`,
  },
  {
    name: 'resumable_uploads_by_link',
    table: 'resumable_uploads',
    definition: sql`(link_id) WHERE link_id IS NOT NULL`,
  },
]
