import { sql } from 'kysely'
import type { SchemaMigration } from './index-definition.ts'

/** Earlier tokens permit everything, as before. */
export function scopedTokens(): SchemaMigration {
  return {
    indexes: [],
    async up(db) {
      for (const column of ['scope', 'device_id', 'parent_id']) {
        await sql`ALTER TABLE access_tokens ADD COLUMN ${sql.ref(column)} text`.execute(db)
      }
    },
  }
}
