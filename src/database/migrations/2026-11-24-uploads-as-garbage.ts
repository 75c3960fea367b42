import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * The count of ended uploads is in their rows, so a trigger can take it back when any release deletes them. The
 * previous release ends uploads without counting them, and deletes counted ones.
 */
export function uploadsAsGarbage({
  createTrigger,
}: Pick<Database, 'createTrigger'>): SchemaMigration {
  const statements = [
    sql`ALTER TABLE uploads ADD COLUMN garbage_bytes bigint NOT NULL DEFAULT 0`,
    createIndex(ENDED),
    ...createTrigger({
      name: 'ended_upload_removed',
      event: 'DELETE ON uploads',
      when: 'OLD.garbage_bytes > 0',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.garbage_bytes WHERE user_id = OLD.user_id',
    }),
  ]
  return {
    indexes: [ENDED],
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

const ENDED: MigrationIndex = {
  name: 'uploads_ended',
  table: 'uploads',
  definition: sql`(user_id, settled_at) WHERE state = 'aborted'`,
}
