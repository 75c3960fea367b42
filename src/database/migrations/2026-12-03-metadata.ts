import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** During the upgrade, a file that an instance of the previous version replaces keeps both. */
export function metadata(): Migration {
  return {
    async up(db) {
      for (const table of ['files', 'history']) {
        for (const column of ['media_type', 'metadata']) {
          await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} text`.execute(db)
        }
      }
    },
  }
}
