import { sql } from 'kysely'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** Indexes for reading a page of a user's access tokens, and those that ended last. */
export function tokensInOrder(): SchemaMigration {
  return {
    indexes: INDEXES,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
    },
  }
}

const INDEXES: readonly MigrationIndex[] = [
  {
    name: 'access_tokens_by_creation',
    table: 'access_tokens',
    definition: sql`(user_id, created_at, token_id)`,
  },
  {
    name: 'access_tokens_by_end',
    table: 'access_tokens',
    definition: sql`(user_id, COALESCE(revoked_at, expires_at))
      WHERE COALESCE(revoked_at, expires_at) IS NOT NULL`,
  },
]
