import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/**
 * During the upgrade, instances of the previous version protect no version, drop those that are protected with the
 * others, and keep who has stored the content that they replace.
 */
export function narrowEnds({ bytewise }: Pick<Database, 'bytewise'>): SchemaMigration {
  const text = sql`text COLLATE ${bytewise}`
  const statements = [
    sql`ALTER TABLE files ADD COLUMN stored_by ${text}`,
    sql`ALTER TABLE history ADD COLUMN ended_by ${text}`,
    sql`ALTER TABLE history ADD COLUMN is_foreign bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE history ADD COLUMN is_protected bigint NOT NULL DEFAULT 0`,
    sql`ALTER TABLE quotas ADD COLUMN history_protected bigint NOT NULL DEFAULT 0`,
  ]
  return {
    async up(db) {
      for (const statement of statements) await statement.execute(db)
    },
  }
}

/** A migration of its own, because PostgreSQL builds them during requests, on columns that are there. */
export function narrowEndsIndexes(): SchemaMigration {
  return {
    indexes: INDEXES,
    isApart: true,
    async up(db) {
      for (const index of INDEXES) await createIndex(index).execute(db)
    },
  }
}

// Versions that the account itself has ended are in none of them.
const NARROW = sql`WHERE ended_by IS NOT NULL AND is_protected = 0`
const PROTECTED = sql`WHERE is_protected = 1`

const INDEXES: readonly MigrationIndex[] = [
  {
    name: 'history_narrow_by_end',
    table: 'history',
    definition: sql`(user_id, ended_at, version) ${NARROW}`,
  },
  {
    name: 'history_by_credential',
    table: 'history',
    definition: sql`(user_id, ended_by, is_foreign, ended_at, version) ${NARROW}`,
  },
  { name: 'history_protected', table: 'history', definition: sql`(ended_at) ${PROTECTED}` },
  {
    name: 'history_of_user_protected',
    table: 'history',
    definition: sql`(user_id, ended_at, version) ${PROTECTED}`,
  },
]
