import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/** The narrow credential with which rows count (core/quota/README.md). Rows of earlier versions count with none. */
export function credentials({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise}`
  return {
    async up(db) {
      for (const table of ['access_tokens', 'links', 'uploads']) {
        await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN credential ${text}`.execute(db)
      }
    },
  }
}
