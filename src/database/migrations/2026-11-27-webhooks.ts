import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/** Both tables are empty until webhooks are configured. */
export function webhooks({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise}`
  const statements = [
    // Without a reference to `users`: the event of a user's purge outlives the user.
    sql`CREATE TABLE webhook_queues (
      user_id ${text} PRIMARY KEY,
      delivered bigint NOT NULL,
      purged_at bigint,
      waiting_since bigint NOT NULL,
      due_at bigint NOT NULL,
      attempts bigint NOT NULL DEFAULT 0,
      failing_since bigint
    )`,
    sql`CREATE INDEX webhook_queues_due ON webhook_queues (due_at, user_id)`,
    sql`CREATE INDEX webhook_queues_by_age ON webhook_queues (waiting_since)`,
    sql`CREATE TABLE parked_webhooks (
      webhook_id ${text} PRIMARY KEY,
      user_id ${text} NOT NULL,
      type text NOT NULL,
      at bigint NOT NULL,
      body text NOT NULL,
      attempts bigint NOT NULL,
      reason text NOT NULL,
      parked_at bigint NOT NULL
    )`,
    sql`CREATE INDEX parked_webhooks_in_order ON parked_webhooks (parked_at, webhook_id)`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
