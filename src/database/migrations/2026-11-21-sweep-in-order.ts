import { type RawBuilder, sql } from 'kysely'
import { createIndex, type SchemaMigration } from './index-definition.ts'

/** Indexes the sweeper's work in due order and adds leader leases. Uploads aborted earlier are due at once. */
export function sweepInOrder(bytewise: RawBuilder<unknown>): SchemaMigration {
  const name = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [
    sql`ALTER TABLE uploads ADD COLUMN remove_at bigint NOT NULL DEFAULT 0`,
    sql`CREATE INDEX uploads_to_remove ON uploads (remove_at, version) WHERE state = 'aborted'`,
    sql`DROP INDEX uploads_aborted`,
    createIndex(COMMITTED),
    sql`DROP INDEX uploads_settled`,
    createIndex(GARBAGE),
    sql`DROP INDEX garbage_due`,
    sql`CREATE TABLE chores (
      name ${name} PRIMARY KEY,
      holder text NOT NULL,
      lease_until bigint NOT NULL
    )`,
  ]
  return {
    indexes: [COMMITTED, GARBAGE],
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

/** Without the condition, aborted uploads with unremovable objects would precede the committed ones. */
const COMMITTED = {
  name: 'uploads_committed',
  table: 'uploads',
  definition: sql`(settled_at) WHERE state = 'committed'`,
}

const GARBAGE = {
  name: 'garbage_in_order',
  table: 'garbage',
  definition: sql`(not_before, object_key)`,
}
