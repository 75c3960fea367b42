import { inject } from 'vitest'
import { createDatabase, type TestDatabase } from '../servers/postgres.ts'

/** A new database on the server of the run, with all tables and no rows. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('postgres') ?? '', inject('migrated'))
}
