import { type RawBuilder, sql } from 'kysely'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** One index per order and audience, so that hidden files cost other users' listings nothing. */
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
  index('files_by_updated_at', sql`(user_id, updated_at, name)`),
  index('files_by_size', sql`(user_id, size, name)`),
  index('files_shared_by_name', sql`(user_id, name) ${SHARED}`),
  index('files_shared_by_updated_at', sql`(user_id, updated_at, name) ${SHARED}`),
  index('files_shared_by_size', sql`(user_id, size, name) ${SHARED}`),
  index('files_public_by_name', sql`(user_id, name) ${PUBLIC}`),
  index('files_public_by_updated_at', sql`(user_id, updated_at, name) ${PUBLIC}`),
  index('files_public_by_size', sql`(user_id, size, name) ${PUBLIC}`),
]

function index(name: string, definition: RawBuilder<unknown>): MigrationIndex {
  return { table: 'files', name, definition }
}
