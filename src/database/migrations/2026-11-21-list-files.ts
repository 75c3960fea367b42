import { sql } from 'kysely'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * An index for each order of a listing; again for what other users may see, and again for what anyone may, so that
 * the many files that they may not see cost them nothing. A private file is in none of those.
 */
export function listFiles(): SchemaMigration {
  return {
    indexes: INDEXES,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
    },
  }
}

const SHARED = sql`WHERE visibility <> 'private'`
const PUBLIC = sql`WHERE visibility = 'public'`

const INDEXES: readonly MigrationIndex[] = [
  { table: 'files', name: 'files_by_updated_at', definition: sql`(user_id, updated_at, name)` },
  { table: 'files', name: 'files_by_size', definition: sql`(user_id, size, name)` },
  { table: 'files', name: 'files_shared_by_name', definition: sql`(user_id, name) ${SHARED}` },
  {
    table: 'files',
    name: 'files_shared_by_updated_at',
    definition: sql`(user_id, updated_at, name) ${SHARED}`,
  },
  {
    table: 'files',
    name: 'files_shared_by_size',
    definition: sql`(user_id, size, name) ${SHARED}`,
  },
  { table: 'files', name: 'files_public_by_name', definition: sql`(user_id, name) ${PUBLIC}` },
  {
    table: 'files',
    name: 'files_public_by_updated_at',
    definition: sql`(user_id, updated_at, name) ${PUBLIC}`,
  },
  {
    table: 'files',
    name: 'files_public_by_size',
    definition: sql`(user_id, size, name) ${PUBLIC}`,
  },
]
