import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Old changes are now found user by user: the index cost each commit more. Without it, instances of the previous version
 * read the whole table once in each sweep.
 */
export function dropChangesByTime(): Migration {
  return {
    async up(db) {
      await sql`DROP INDEX changes_by_time`.execute(db)
    },
  }
}
