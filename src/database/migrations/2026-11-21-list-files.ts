import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** An index for each order of a listing, and again for the few files that others than their owner may see. */
export function listFiles(): Migration {
  return {
    async up(db) {
      for (const statement of STATEMENTS) await statement.execute(db)
    },
  }
}

const STATEMENTS = [
  sql`CREATE INDEX files_by_updated_at ON files (user_id, updated_at, name)`,
  sql`CREATE INDEX files_by_size ON files (user_id, size, name)`,
  sql`CREATE INDEX files_shared_by_name ON files (user_id, name) WHERE visibility <> 'private'`,
  sql`CREATE INDEX files_shared_by_updated_at ON files (user_id, updated_at, name)
      WHERE visibility <> 'private'`,
  sql`CREATE INDEX files_shared_by_size ON files (user_id, size, name)
      WHERE visibility <> 'private'`,
]
