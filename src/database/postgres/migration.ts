import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { OnlineMigration } from '../database.ts'
import type { MigrationIndex } from '../migrations/index-definition.ts'
import type { Tables } from '../schema.ts'

export interface PatientDatabase extends AsyncDisposable {
  readonly kysely: Kysely<Tables>
  readonly isLockFailure: (error: unknown) => boolean
}

/** Runs in one instance at a time; the others wait without limit. A lock timeout or a deadlock restarts `work`. */
export async function migrateAlone<T>(
  open: () => PatientDatabase,
  work: (kysely: Kysely<Tables>, statements: OnlineMigration) => Promise<T>,
): Promise<T> {
  await using patient = open()
  const { kysely, isLockFailure } = patient
  return await kysely.connection().execute(async (holder) => {
    // Closing the connection releases the lock. It polls, because a statement that waits holds a snapshot, and CREATE
    // INDEX CONCURRENTLY would wait for that.
    while (!(await tryLock(holder))) await delay(ASK_AGAIN_MS)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return await work(kysely, { buildIndexes, lockTables })
      } catch (error) {
        if (!isLockFailure(error)) throw error
        await delay(pauseMs)
      }
    }
  })
}

const ASK_AGAIN_MS = 250

/** Requests run in between, even while another session holds a lock for hours. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 4_000

const LOCK_KEY = 6_023_841_277

async function tryLock(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ readonly is_ours: boolean }>`
    SELECT pg_try_advisory_lock(${sql.lit(LOCK_KEY)}) AS is_ours
  `.execute(db)
  return rows[0]?.is_ours === true
}

async function buildIndexes(db: Kysely<Tables>, indexes: readonly MigrationIndex[]): Promise<void> {
  for (const { name, table, definition } of indexes) {
    const state = await indexState(db, { name, table })
    if (state === 'no_table' || state === 'valid') continue
    if (state === 'invalid') await sql`DROP INDEX CONCURRENTLY ${sql.id(name)}`.execute(db)
    await sql`
      CREATE INDEX CONCURRENTLY ${sql.id(name)} ON ${sql.id(table)} ${definition}
    `.execute(db)
  }
}

async function indexState(
  db: Kysely<Tables>,
  { name, table }: Pick<MigrationIndex, 'name' | 'table'>,
): Promise<string | undefined> {
  const { rows } = await sql<{ readonly state: string }>`
    SELECT CASE
      WHEN to_regclass(${table}) IS NULL THEN 'no_table'
      WHEN to_regclass(${name}) IS NULL THEN 'missing'
      WHEN (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(${name})) THEN 'valid'
      ELSE 'invalid'
    END AS state
  `.execute(db)
  return rows[0]?.state
}

/** At once: one by one could deadlock. Waits less than the server's `deadlock_timeout`. */
async function lockTables(db: QueryExecutorProvider): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(db)
  const { rows } = await sql<{ readonly name: string }>`
    SELECT name FROM unnest(CAST(${LOCKED_TABLES} AS text[])) WITH ORDINALITY AS t (name, place)
    WHERE to_regclass(name) IS NOT NULL ORDER BY place
  `.execute(db)
  if (rows.length === 0) return
  const tables: RawBuilder<unknown>[] = rows.map(({ name }) => sql.id(name))
  await sql`LOCK TABLE ${sql.join(tables)} IN ACCESS EXCLUSIVE MODE`.execute(db)
}

const LOCK_TIMEOUT = '400ms'

/** All tables, in the order in which they are locked. */
const LOCKED_TABLES = Object.keys({
  users: true,
  access_tokens: true,
  links: true,
  grants: true,
  quotas: true,
  device_usage: true,
  uploads: true,
  resumable_uploads: true,
  upload_pieces: true,
  files: true,
  garbage: true,
  history: true,
  changes: true,
  webhook_queues: true,
  parked_webhooks: true,
  daily_usage: true,
  operators: true,
  operator_actions: true,
  object_store: true,
  leader_leases: true,
} satisfies Record<keyof Tables, true>)
