import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/** Without a reference to `users`: the deletion of a user outlives the user. */
export function operatorActions({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise}`
  const statements = [
    sql`CREATE TABLE operator_actions (
      action_id ${text} PRIMARY KEY,
      at bigint NOT NULL,
      action text NOT NULL,
      user_id ${text},
      details text NOT NULL,
      address text,
      request_id text
    )`,
    sql`CREATE INDEX operator_actions_by_user ON operator_actions (user_id, action_id)`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
