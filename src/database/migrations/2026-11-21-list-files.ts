import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * An index for each order of a listing; again for what other users may see, and again for what anyone may, so that
 * the many files that they may not see cost them nothing. A private file is in none of those.
 */
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
  sql`CREATE INDEX files_public_by_name ON files (user_id, name) WHERE visibility = 'public'`,
  sql`CREATE INDEX files_public_by_updated_at ON files (user_id, updated_at, name)
      WHERE visibility = 'public'`,
  sql`CREATE INDEX files_public_by_size ON files (user_id, size, name)
      WHERE visibility = 'public'`,
]
