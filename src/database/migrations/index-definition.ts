import { type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** An index that a migration adds to a table which may be large. */
export interface MigrationIndex {
  readonly name: string
  readonly table: string
  /** What follows the name of the table. */
  readonly definition: RawBuilder<unknown>
}

/** A migration that says which indexes can be built before its transaction. */
export interface SchemaMigration extends Migration {
  /** Its `up` has them all be there as well, by `createIndex`. They name only columns that are older than it. */
  readonly indexes?: readonly MigrationIndex[]
}

/** Nothing where the index was built already. */
export function createIndex({ name, table, definition }: MigrationIndex): RawBuilder<unknown> {
  return sql`CREATE INDEX IF NOT EXISTS ${sql.id(name)} ON ${sql.id(table)} ${definition}`
}
