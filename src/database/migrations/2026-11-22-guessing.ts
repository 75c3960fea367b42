import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Failed attempts by address, shared by instances. The table references nothing and holds no token. */
export function guessing(bytewise: RawBuilder<unknown>): Migration {
  return {
    async up(db) {
      await sql`CREATE TABLE guesses (
        address text COLLATE ${bytewise} NOT NULL PRIMARY KEY,
        guesses bigint NOT NULL,
        window_ends_at bigint NOT NULL,
        blocks bigint NOT NULL,
        blocked_until bigint NOT NULL,
        expires_at bigint NOT NULL
      )`.execute(db)
      await sql`CREATE INDEX guesses_expired ON guesses (expires_at)`.execute(db)
    },
  }
}
