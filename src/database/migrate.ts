import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { AppError } from '../core/errors.ts'
import type { Database, OnlineMigration } from './database.ts'
import type { SchemaMigration } from './migrations/index-definition.ts'
import { initial } from './migrations/2026-11-29-initial.ts'
import type { Tables } from './schema.ts'

/**
 * Guarantees that the database has every table of `schema.ts`. Under a lock: any number of instances can call it, and a
 * killed process leaves only whole migrations and prebuilt indexes, which the next call uses. Resolves to the names of
 * the migrations it ran. Rejects with `unavailable`, even for an unknown one.
 *
 * Instances of the previous version run meanwhile, so a migration follows these rules:
 * - An index on existing columns of a possibly large table goes into `indexes`: PostgreSQL builds it during requests.
 * - All else locks every table and takes constant time: `ADD COLUMN` has a constant default, no constraint reads rows.
 * - The previous version works with the new schema. A released migration never changes its name or result.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  return await runMigrations(database, migrations(database))
}

type Migrations = Readonly<Record<string, SchemaMigration>>

/** Rejects unless this version or an older one has migrated the database. Changes nothing. */
export async function assertMigrated(database: Database): Promise<void> {
  const known = migrations(database)
  const pending = await database.query((kysely) => findPending(kysely, known))
  if (pending.length < Object.keys(known).length) return
  throw new Error('This is not a database of this service.')
}

export async function runMigrations(
  database: Database,
  migrations: Migrations,
): Promise<readonly string[]> {
  // Uses the deadlines of requests, so that a start fails soon if the database does not answer.
  const pending = await database.query((kysely) => findPending(kysely, migrations))
  if (pending.length === 0) return []
  if (database.migrateAlone === undefined) {
    return await database.query((kysely) => runAll(kysely, migrations))
  }
  return await database.migrateAlone(async (kysely, { buildIndexes, lockTables }) => {
    const locking = Object.fromEntries(
      Object.entries(migrations).map(([name, each]) => [name, locked(each, lockTables)]),
    )
    const stillPending = await findPending(kysely, migrations)
    // A new database has no rows to build an index of, and gets all tables or none.
    if (stillPending.length === Object.keys(migrations).length) return await runAll(kysely, locking)
    const done: string[] = []
    for (const { name, migration } of stillPending) {
      await buildIndexes(kysely, migration.indexes ?? [])
      done.push(...(await runAll(kysely, locking, name)))
    }
    return done
  })
}

interface Pending {
  readonly name: string
  readonly migration: SchemaMigration
}

/** Rejects with `unavailable` if a newer version has migrated the database. */
async function findPending(
  kysely: Kysely<Tables>,
  migrations: Migrations,
): Promise<readonly Pending[]> {
  const known = await createMigrator(kysely, migrations).getMigrations()
  if (known.some(({ executedAt }) => executedAt !== undefined)) {
    await refuseNewer(kysely, migrations)
  }
  return known.filter(({ executedAt }) => executedAt === undefined)
}

/** Up to `last`, which must be pending; all of them by default. */
async function runAll(
  kysely: Kysely<Tables>,
  migrations: Migrations,
  last?: string,
): Promise<readonly string[]> {
  const migrator = createMigrator(kysely, migrations)
  const { error, results } =
    last === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(last)
  if (error instanceof Error) {
    await refuseNewer(kysely, migrations).catch((newer: unknown) => {
      throw newer instanceof AppError ? newer : error
    })
    throw error
  }
  if (results === undefined) throw new TypeError('The migrator ended without a result.')
  return results.map((result) => result.migrationName)
}

function createMigrator(db: Kysely<Tables>, migrations: Migrations): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  })
}

function locked(migration: Migration, lockTables: OnlineMigration['lockTables']): Migration {
  return {
    async up(db) {
      await lockTables(db)
      await migration.up(db)
    },
  }
}

async function refuseNewer(kysely: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const { rows } = await sql<{ readonly name: string }>`
    SELECT name FROM kysely_migration ORDER BY name
  `.execute(kysely)
  const unknown = rows.find(({ name }) => !(name in migrations))
  if (unknown === undefined) return
  throw new AppError(
    'unavailable',
    `A newer version has migrated the database (migration "${unknown.name}"). ` +
      'Run that version, or restore a backup from before the migration.',
  )
}

/** The released migrations in the order of their names, which begin with a date and never change. */
export function migrations(database: Database): Migrations {
  return { '2026-11-29-initial': initial(database) }
}
