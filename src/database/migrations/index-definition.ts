import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export interface MigrationIndex {
  readonly name: string
  readonly table: string
  readonly definition: RawBuilder<unknown>
}

export interface SchemaMigration extends Migration {
  /** Indexes on existing columns, built before the transaction. `up` also creates them, by `createIndex`. */
  readonly indexes?: readonly MigrationIndex[]
}

export function createIndex({ name, table, definition }: MigrationIndex): RawBuilder<unknown> {
  return sql`CREATE INDEX IF NOT EXISTS ${sql.id(name)} ON ${sql.id(table)} ${definition}`
}
