import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Files that are there count nothing for their metadata until they are written again. During the upgrade, instances of
 * the previous version count nothing for what they write; when they delete a file, what its metadata counted stays
 * counted, which `verify --repair` corrects.
 */
export function metadataBytes(): Migration {
  return {
    async up(db) {
      await sql`ALTER TABLE files ADD COLUMN metadata_bytes bigint NOT NULL DEFAULT 0`.execute(db)
    },
  }
}
