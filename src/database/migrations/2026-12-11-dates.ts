import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** During the upgrade, the previous version leaves them as they are: `nextDate` and `lastModified` take the latest. */
export function dates(): Migration {
  return {
    async up(db) {
      for (const [table, column] of COLUMNS) {
        await sql`
          ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(column)} bigint NOT NULL DEFAULT 0
        `.execute(db)
      }
    },
  }
}

const COLUMNS = [
  ['quotas', 'newest_at'],
  ['quotas', 'freed_at'],
  ['files', 'modified_at'],
] as const
