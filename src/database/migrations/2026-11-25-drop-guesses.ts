import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Each instance now counts failed attempts for itself. Instances of the previous version continue with counts of their
 * own too, and log that they cannot share them.
 */
export function dropGuesses(): Migration {
  return {
    async up(db) {
      await sql`DROP TABLE guesses`.execute(db)
    },
  }
}
