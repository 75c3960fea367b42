import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { SchemaMigration } from './index-definition.ts'

/** During the upgrade, instances of the previous version do not end the links of tokens that they revoke. */
export function links({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise} NOT NULL`
  const statements = [
    sql`CREATE TABLE links (
      sha256 ${text} PRIMARY KEY,
      link_id ${text},
      user_id ${text} REFERENCES users (id) ON DELETE CASCADE,
      token_id text NOT NULL,
      device_id text,
      kind text NOT NULL,
      name text,
      prefix text,
      label text NOT NULL,
      password_hash text,
      max_uses bigint,
      uses bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      expires_at bigint
    )`,
    sql`CREATE UNIQUE INDEX links_by_user ON links (user_id, link_id)`,
    sql`ALTER TABLE resumable_uploads ADD COLUMN link_id text`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}
