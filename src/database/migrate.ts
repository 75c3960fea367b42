import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { AppError } from '../core/errors.ts'
import type { Database } from './database.ts'
import type { SchemaMigration } from './migrations/index-definition.ts'
import { initial } from './migrations/2026-11-21-initial.ts'
import { listFiles } from './migrations/2026-11-21-list-files.ts'
import { sweepInOrder } from './migrations/2026-11-21-sweep-in-order.ts'
import { countGarbage } from './migrations/2026-11-23-count-garbage.ts'
import { guessing } from './migrations/2026-11-22-guessing.ts'
import { buildIndexes, lockTables } from './postgres/migration.ts'
import type { Tables } from './schema.ts'

/**
 * Guarantees that the database has every table of `schema.ts`, or that no table has changed. Runs forward only, in one
 * transaction under a lock, so any number of instances can call it at once, and a process that is killed in the middle
 * leaves nothing behind, but for indexes that are built before the transaction, with which the next call goes on. Returns
 * the names of the migrations that this call ran. Rejects with `unavailable` like every use of a database, and when the
 * database has a migration that this program does not know: what it would make of that is anyone's guess.
 *
 * Instances of the version before work on meanwhile, so a migration has rules:
 * - An index on a table that may be large, of columns that were there before, stands in `indexes`: PostgreSQL builds it
 *   beside requests, however long that takes.
 * - All else takes no time that grows with a table. Every table is locked for it, so requests wait: no row is rewritten
 *   (`ADD COLUMN` has a constant default), no constraint is added that has rows read.
 * - The version before can work with what it makes, and what is released never changes in name or result.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  return await runMigrations(database, migrations(database))
}

type Migrations = Readonly<Record<string, SchemaMigration>>

/** Rejects unless the database is one of this service that this version, or one before it, has migrated. Changes nothing. */
export async function assertMigrated(database: Database): Promise<void> {
  const known = migrations(database)
  const pending = await database.query((kysely) => findPending(kysely, known))
  if (pending.length < Object.keys(known).length) return
  throw new Error('This is a database, but not one of this service.')
}

/** `migrate` with migrations of a test's own. */
export async function runMigrations(
  database: Database,
  migrations: Migrations,
): Promise<readonly string[]> {
  // With the deadlines of requests, so that a start fails soon where the database does not answer.
  const pending = await database.query((kysely) => findPending(kysely, migrations))
  if (pending.length === 0) return []
  if (database.migrateAlone === undefined) {
    return await database.query((kysely) => runAll(kysely, migrations))
  }
  return await database.migrateAlone(async (kysely) => {
    const stillPending = await findPending(kysely, migrations)
    await buildIndexes(
      kysely,
      stillPending.flatMap(({ indexes = [] }) => indexes),
    )
    const locking = Object.entries(migrations).map(([name, each]) => [name, locked(each)] as const)
    return await runAll(kysely, Object.fromEntries(locking))
  })
}

/** Rejects with why a program must not use a database that a newer one has migrated. */
async function findPending(
  kysely: Kysely<Tables>,
  migrations: Migrations,
): Promise<readonly SchemaMigration[]> {
  const known = await createMigrator(kysely, migrations).getMigrations()
  if (known.some(({ executedAt }) => executedAt !== undefined)) {
    await refuseNewer(kysely, migrations)
  }
  return known.filter(({ executedAt }) => executedAt === undefined).map((each) => each.migration)
}

async function runAll(kysely: Kysely<Tables>, migrations: Migrations): Promise<readonly string[]> {
  const { error, results } = await createMigrator(kysely, migrations).migrateToLatest()
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

function locked(migration: Migration): Migration {
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
    `The database was migrated by a newer version, which made "${unknown.name}". Start that version, or restore a backup from before it.`,
  )
}

/** The migrations that are released, in the order of their names, which begin with a date; such a name never changes. */
export function migrations({ bytewise, createTrigger }: Database): Migrations {
  return {
    '2026-11-21-initial': initial(bytewise),
    '2026-11-21-list-files': listFiles(),
    '2026-11-21-sweep-in-order': sweepInOrder(bytewise),
    '2026-11-22-guessing': guessing(bytewise),
    '2026-11-23-count-garbage': countGarbage({ bytewise, createTrigger }),
  }
}
