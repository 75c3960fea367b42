import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** During the upgrade, the previous version counts a whole use for each download that begins at byte 0. */
export function linksCountBytes(): Migration {
  return {
    async up(db) {
      await sql`ALTER TABLE links ADD COLUMN use_fraction bigint NOT NULL DEFAULT 0`.execute(db)
    },
  }
}
