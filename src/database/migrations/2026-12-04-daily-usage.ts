import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { createIndex, type MigrationIndex, type SchemaMigration } from './index-definition.ts'

/** The index counts suspended users without reading the rows of the others. */
export function dailyUsage({ clustered }: Pick<Database, 'clustered'>): SchemaMigration {
  return {
    indexes: [SUSPENDED],
    async up(db) {
      await createIndex(SUSPENDED).execute(db)
      await sql`CREATE TABLE daily_usage (
        day bigint PRIMARY KEY,
        users bigint NOT NULL,
        files bigint NOT NULL,
        used_bytes bigint NOT NULL
      ) ${clustered}`.execute(db)
    },
  }
}

const SUSPENDED: MigrationIndex = {
  name: 'users_suspended',
  table: 'users',
  definition: sql`(id) WHERE status = 'suspended'`,
}
