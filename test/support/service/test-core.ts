import { join } from 'node:path'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createSweeper, type SweepReport } from '../../../src/core/sweep/sweeper.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { createUserStore, type UserStores } from '../../../src/database/users/user-store.ts'
import { createMemoryStore } from '../memory-store.ts'
import { createMemoryFolder } from '../servers/local-server.ts'
import { openMigrated } from './migrated-file.ts'

/** The ports of core: a SQLite file in a folder of its own, objects in memory. */
export interface TestCore extends AsyncDisposable {
  readonly database: Database
  readonly ledger: Ledger
  readonly users: UserStores
  readonly objects: ObjectStore
  /** The database's clock, in milliseconds; it moves only when a test moves it. */
  readonly clock: { now: number }
}

export const LEASE_MS = 60_000
export const GARBAGE_DELAY_MS = 600_000
export const RETENTION_MS = 900_000

const TIMES = { garbageDelayMs: GARBAGE_DELAY_MS, retentionMs: RETENTION_MS } as const

export async function openTestCore(options: Partial<LedgerOptions> = {}): Promise<TestCore> {
  const folder = await createMemoryFolder('core')
  const clock = { now: Date.now() }
  const database = await openMigrated({
    file: join(folder.path, 'test.sqlite'),
    clock: () => clock.now,
  })
  return {
    database,
    ledger: createLedger(database, {
      baseCapacity: 1000,
      ...options,
      times: { ...TIMES, ...options.times },
    }),
    users: createUserStore(database, { baseCapacity: 0 }),
    objects: createMemoryStore(),
    clock,
    async [Symbol.asyncDispose]() {
      await database.close()
      await folder.remove()
    },
  }
}

/** One sweep by the given ports. */
export async function sweepOnce(ports: Pick<TestCore, 'ledger' | 'objects'>): Promise<SweepReport> {
  const sweeper = createSweeper(ports)
  return await sweeper.sweep({ signal: AbortSignal.timeout(10_000) })
}

/** Two sweeps, with every lease, delay and retention over: what the real ports hold then stays. */
export async function settle(core: TestCore): Promise<void> {
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    core.clock.now += LEASE_MS + GARBAGE_DELAY_MS + RETENTION_MS
    await sweepOnce(core)
  }
}

/** What must be nothing after `settle` (I3, I8). */
export interface Leftovers {
  /** Keys of objects that no file refers to. */
  readonly orphans: readonly string[]
  /** Keys that files refer to, and under which there is no object of the recorded size. */
  readonly missing: readonly string[]
  readonly pendingUploads: number
  readonly reservedBytes: number
}

export const NOTHING_LEFT: Leftovers = {
  orphans: [],
  missing: [],
  pendingUploads: 0,
  reservedBytes: 0,
}

export async function leftovers({ database, objects }: TestCore): Promise<Leftovers> {
  const db = database.kysely
  const files = await db.selectFrom('files').select(['object_key', 'size']).execute()
  const uploads = await db.selectFrom('uploads').select('state').execute()
  const quotas = await db.selectFrom('quotas').select('reserved_bytes').execute()
  const stored = new Map(await storedSizes(objects))
  const referenced = new Set<string>(files.map((file) => file.object_key))
  return {
    orphans: [...stored.keys()].filter((key) => !referenced.has(key)),
    missing: files
      .filter((file) => stored.get(file.object_key) !== file.size)
      .map((file) => file.object_key),
    pendingUploads: uploads.filter(({ state }) => state === 'pending').length,
    reservedBytes: quotas.reduce((sum, quota) => sum + quota.reserved_bytes, 0),
  }
}

async function storedSizes(objects: ObjectStore): Promise<[string, number][]> {
  const listing = objects.list({ prefix: 'users/', signal: AbortSignal.timeout(10_000) })
  return (await Array.fromAsync(listing)).map(({ key, size }) => [key, size])
}
