import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What the sweeper takes up, in the order in which it is due: nothing that is not due yet costs it anything. And the
 * leases of chores that one instance does for all. An aborted upload of before is due at once.
 */
export function sweepInOrder(bytewise: RawBuilder<unknown>): Migration {
  const name = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [
    sql`ALTER TABLE uploads ADD COLUMN remove_at bigint NOT NULL DEFAULT 0`,
    sql`CREATE INDEX uploads_to_remove ON uploads (remove_at, version) WHERE state = 'aborted'`,
    sql`DROP INDEX uploads_aborted`,
    // Aborted uploads whose objects can't be removed would lie before the committed ones.
    sql`CREATE INDEX uploads_committed ON uploads (settled_at) WHERE state = 'committed'`,
    sql`DROP INDEX uploads_settled`,
    sql`CREATE INDEX garbage_in_order ON garbage (not_before, object_key)`,
    sql`DROP INDEX garbage_due`,
    sql`CREATE TABLE chores (
      name ${name} PRIMARY KEY,
      holder text NOT NULL,
      lease_until bigint NOT NULL
    )`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
