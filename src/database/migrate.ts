import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { AppError } from '../core/errors.ts'
import type { Database } from './database.ts'
import { initial } from './migrations/2026-11-21-initial.ts'
import { listFiles } from './migrations/2026-11-21-list-files.ts'
import { sweepInOrder } from './migrations/2026-11-21-sweep-in-order.ts'
import { countGarbage } from './migrations/2026-11-23-count-garbage.ts'
import { guessing } from './migrations/2026-11-22-guessing.ts'

/**
 * Guarantees that the database has every table of `schema.ts`, or that nothing has changed. Runs
 * forward only, in one transaction under a lock, so any number of instances can call it at once, and
 * a process that is killed in the middle leaves nothing behind. Returns the names of the migrations
 * that this call ran. Rejects with `unavailable` like every use of a database, and when the database
 * has a migration that this program does not know: what it would make of that is anyone's guess.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  return await runMigrations(database, migrations(database))
}

/** `migrate` with migrations of a test's own. */
export async function runMigrations(
  database: Database,
  migrations: Readonly<Record<string, Migration>>,
): Promise<readonly string[]> {
  return await database.query(async (kysely) => {
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    })
    const { error, results } = await migrator.migrateToLatest()
    if (error instanceof Error) throw (await newerThan(database, migrations)) ?? error
    if (results === undefined) throw new TypeError('The migrator ended without a result.')
    return results.map((result) => result.migrationName)
  })
}

/** Why a program must not use a database that a newer one has migrated; `undefined` when none has. */
async function newerThan(
  { kysely }: Database,
  migrations: Readonly<Record<string, Migration>>,
): Promise<AppError | undefined> {
  // The migrator makes this table before anything else, if it gets so far.
  const ran = await sql<{ readonly name: string }>`SELECT name FROM kysely_migration ORDER BY name`
    .execute(kysely)
    .catch(() => undefined)
  const unknown = ran?.rows.find(({ name }) => !(name in migrations))
  return (
    unknown &&
    new AppError(
      'unavailable',
      `The database was migrated by a newer version, which made "${unknown.name}". Start that version, or restore a backup from before it.`,
    )
  )
}

/** The migrations that are released, in the order of their names, which begin with a date; such a name never changes. */
export function migrations({
  bytewise,
  createTrigger,
}: Database): Readonly<Record<string, Migration>> {
  return {
    '2026-11-21-initial': initial(bytewise),
    '2026-11-21-list-files': listFiles(),
    '2026-11-21-sweep-in-order': sweepInOrder(bytewise),
    '2026-11-22-guessing': guessing(bytewise),
    '2026-11-23-count-garbage': countGarbage({ bytewise, createTrigger }),
  }
}
