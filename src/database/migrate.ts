import { type Migration, Migrator } from 'kysely/migration'
import type { Database } from './database.ts'
import { initial } from './migrations/2026-11-21-initial.ts'
import { listFiles } from './migrations/2026-11-21-list-files.ts'
import { guessing } from './migrations/2026-11-22-guessing.ts'

/**
 * Guarantees that the database has every table of `schema.ts`, or that nothing has changed. Runs
 * forward only, in one transaction under a lock, so any number of instances can call it at once.
 * Returns the names of the migrations that this call ran. Rejects with `unavailable` like every use
 * of a database.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  return await database.query(async (kysely) => {
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: () => Promise.resolve(migrations(database)) },
    })
    const { error, results } = await migrator.migrateToLatest()
    if (error instanceof Error) throw error
    if (results === undefined) throw new TypeError('The migrator ended without a result.')
    return results.map((result) => result.migrationName)
  })
}

/**
 * In the order of their names, which begin with a date; a name that has been released never
 * changes.
 */
function migrations(database: Database): Record<string, Migration> {
  return {
    '2026-11-21-initial': initial(database.bytewise),
    '2026-11-21-list-files': listFiles(),
    '2026-11-22-guessing': guessing(database.bytewise),
  }
}
