import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Database } from '../database.ts'

/**
 * Triggers keep the count correct while instances of the previous release add rows, which have no user and do not
 * count, and remove counted ones. Reads all of `garbage` under the table locks: 0.1 s for a million rows.
 */
export function countGarbage({
  bytewise,
  createTrigger,
}: Pick<Database, 'bytewise' | 'createTrigger'>): Migration {
  const statements: readonly RawBuilder<unknown>[] = [
    sql`ALTER TABLE quotas ADD COLUMN garbage_bytes bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE garbage ADD COLUMN bytes bigint NOT NULL DEFAULT 0`,
    // The next user with this id has none of this garbage.
    sql`ALTER TABLE garbage ADD COLUMN user_id text COLLATE ${bytewise}
        REFERENCES quotas (user_id) ON DELETE SET NULL`,
    sql`CREATE INDEX garbage_by_user ON garbage (user_id, not_before) WHERE user_id IS NOT NULL`,
    ...createTrigger({
      name: 'garbage_added',
      event: 'INSERT ON garbage',
      when: 'NEW.user_id IS NOT NULL',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes + NEW.bytes WHERE user_id = NEW.user_id',
    }),
    ...createTrigger({
      name: 'garbage_removed',
      event: 'DELETE ON garbage',
      when: 'OLD.user_id IS NOT NULL',
      statement:
        'UPDATE quotas SET garbage_bytes = garbage_bytes - OLD.bytes WHERE user_id = OLD.user_id',
    }),
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
