import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { Database } from '../database.ts'

export function dailyUsage({ clustered }: Pick<Database, 'clustered'>): Migration {
  return {
    async up(db) {
      await sql`CREATE TABLE daily_usage (
        day bigint PRIMARY KEY,
        users bigint NOT NULL,
        files bigint NOT NULL,
        used_bytes bigint NOT NULL
      ) ${clustered}`.execute(db)
    },
  }
}
