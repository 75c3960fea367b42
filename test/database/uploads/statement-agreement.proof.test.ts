import * as fc from 'fast-check'
import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import { parseMetadata } from '../../../src/core/files/metadata.ts'
import { createVersion, objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import type { Batch, Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore, type UserStores } from '../../../src/database/users/user-store.ts'
import { type Account, grantOf, LONG_MS, openAccount } from '../../core/ledger/fixture.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')
const DAY_MS = 24 * 60 * 60_000

const name = fc.constantFrom('a', 'a', 'b', 'c', 'd')
const size = fc.constantFrom(0, 1, 40, 300, 900)
const credential = fc.constantFrom(undefined, undefined, 'camera', 'game')
/** `front` can have a share. */
const deviceId = fc.constantFrom(...Array<undefined>(6), 'front', 'front', 'back')
const metadata = fc.constantFrom(
  undefined,
  undefined,
  parseMetadata('{}'),
  parseMetadata('{"note":"short"}'),
  parseMetadata(`{"note":"${'x'.repeat(1_500)}"}`),
)
const expiresInMs = fc.constantFrom(undefined, undefined, undefined, 1_000, 3 * DAY_MS)
const target = fc.nat({ max: 2 })

const precondition = fc.constantFrom(...Array<undefined>(8), 'none', 'current', 'current', 'stale')
/** Which limits the ledger has that does it. */
const limits = fc.constantFrom(...Array<'ample'>(6).fill('ample'), 'fewFiles', 'fewUploads', 'few')

const beginning = {
  name,
  size,
  credential,
  deviceId,
  precondition,
  limits,
}
const committing = {
  target: fc.constantFrom(0, 0, 0, 1, 2),
  size,
  digest: fc.constantFrom('1', '2'),
  credential,
  deviceId,
  metadata,
  expiresInMs,
  mediaType: fc.constantFrom(undefined, null, parseMediaType('text/plain')),
  visibility: fc.constantFrom(undefined, undefined, 'public'),
  precondition,
  limits,
}

const operation = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      begin: fc.record(beginning),
      commit: fc.record({ ...committing, target: fc.constant(0) }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const), ...beginning }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('commit' as const), ...committing }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('extend' as const), target, size }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), target }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), name, credential }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      name,
      metadata: fc.constantFrom(undefined, null, { note: 'y'.repeat(1_200) }),
      isKept: fc.constantFrom(undefined, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('restore' as const), target, credential }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('device' as const),
      share: fc.constantFrom('all' as const, 0, 340, 1_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      status: fc.constantFrom('active', 'active', 'active', 'suspended'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 1, 400, 1_000, 1_500, LONG_MS, DAY_MS, 20 * DAY_MS),
    }),
  },
)

type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

type Begin = Omit<Operation & { readonly kind: 'begin' }, 'kind'>
type Commit = Omit<Operation & { readonly kind: 'commit' }, 'kind'>

const LIMITS = {
  ample: { maxFiles: 10, maxUploads: 20 },
  fewFiles: { maxFiles: 2, maxUploads: 20 },
  fewUploads: { maxFiles: 10, maxUploads: 2 },
  few: { maxFiles: 2, maxUploads: 2 },
} as const

interface Side {
  readonly account: Account
  /** The same account, by the limits. */
  readonly limited: Readonly<Record<keyof typeof LIMITS, Account>>
  readonly users: UserStores
  /** In the order of their creation. */
  readonly versions: Version[]
}

describe.skipIf(server === undefined)('the statements of uploads on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  /** How many statements took effect, and how many did not, by what they do. */
  const seen = new Map<string, number>()

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
    await sql`INSERT INTO leader_leases (name, holder, lease_until) VALUES ('clock', '', 1800000000000)`.execute(
      database.kysely,
    )
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  const clock = sql<number>`(SELECT lease_until FROM leader_leases WHERE name = 'clock')`

  const advance = (ms: number) =>
    sql`UPDATE leader_leases SET lease_until = lease_until + ${ms} WHERE name = 'clock'`.execute(
      database.kysely,
    )

  /** Notes which of the statements that a batch takes have returned a row. */
  const watched = (runBatch: NonNullable<Database['runBatch']>) => async (batch: Batch) => {
    let kinds: string[] = []
    const answers = await runBatch({
      ...batch,
      take(locked) {
        const queries = batch.take(locked)
        kinds = queries.map(({ sql: text }) => {
          const kind = text.includes('moved AS (') ? 'commit' : 'begin'
          return text.includes('device_usage') ? `${kind} of a device` : kind
        })
        return queries
      },
    })
    for (const [at, kind] of kinds.entries()) {
      const key = `${kind} ${answers?.[at]?.rows.length}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    }
    return answers
  }

  const openSides = (historyLifetimeMs: number): Promise<readonly Side[]> => {
    const timed = { ...database, now: clock }
    const { runBatch } = database
    if (runBatch === undefined) throw new Error('PostgreSQL has no batches')
    return Promise.all(
      [
        { ...timed, runBatch: watched(runBatch) },
        { ...timed, runBatch: undefined },
      ].map(async (each) => {
        const options = { baseCapacity: 3_000, historyLifetimeMs, historyShare: 50 }
        const ledgerWith = (limits: LedgerOptions['limits']) =>
          createLedger(each, { ...options, queuesWebhooks: true, limits })
        const users = createUserStore(database, { baseCapacity: 0 })
        const account = await openAccount({ ledger: ledgerWith({}), users })
        const limited = {
          ample: account.through(ledgerWith(LIMITS.ample)),
          fewFiles: account.through(ledgerWith(LIMITS.fewFiles)),
          fewUploads: account.through(ledgerWith(LIMITS.fewUploads)),
          few: account.through(ledgerWith(LIMITS.few)),
        }
        return { account, limited, users, versions: [] }
      }),
    )
  }

  const TABLES = [
    'quotas',
    'device_usage',
    'uploads',
    'files',
    'history',
    'changes',
    'webhook_queues',
    'garbage',
  ]

  const rowsOf = async (side: Side): Promise<readonly string[]> => {
    const { userId } = side.account
    const found = await Promise.all(
      TABLES.map((table) =>
        sql`SELECT ${table} AS found_in, * FROM ${sql.table(table)} WHERE user_id = ${userId}`.execute(
          database.kysely,
        ),
      ),
    )
    const rows = found.flatMap((each) => each.rows as readonly Record<string, unknown>[])
    return rows.map((row) => neutral(side, { ...row, outcome: parsed(row['outcome']) })).toSorted()
  }

  it.each([0, 10 * DAY_MS])(
    'do what the steps do, and leave the same rows, with a history of %s ms',
    async (historyLifetimeMs) => {
      const follow = async (operations: readonly Operation[]): Promise<void> => {
        const sides = await openSides(historyLifetimeMs)
        for (const each of operations) {
          if (each.kind === 'advance') await advance(each.ms)
          const [fast, steps] = await Promise.all(
            sides.map(async (side) => {
              const outcome = neutral(side, await outcomeOf(perform(side, each)))
              return { outcome, rows: await rowsOf(side) }
            }),
          )
          expect({ ...each, left: fast }).toEqual({ ...each, left: steps })
        }
      }
      const history = fc.array(operation, { minLength: 15, maxLength: 40, size: 'max' })
      await fc.assert(fc.asyncProperty(history, follow), { numRuns: 45 })
      const kinds = ['begin', 'begin of a device', 'commit', 'commit of a device']
      expect([...seen.keys()].toSorted()).toEqual(
        kinds.flatMap((kind) => [`${kind} 0`, `${kind} 1`]),
      )
      expect(seen.get('commit 1')).toBeGreaterThan(50)
      expect(seen.get('commit of a device 1')).toBeGreaterThan(15)
    },
    180_000,
  )
})

/** Two statements may space the same JSON differently. */
function parsed(outcome: unknown): unknown {
  return typeof outcome === 'string' ? JSON.parse(outcome) : outcome
}

/** The value as JSON in which the ids of this side have the names that those of the other one have. */
function neutral({ account, versions }: Side, value: unknown): string {
  const names = versions.map((id, at) => [id, `id-${at}`] as const)
  const { userId, userCreatedAt } = account
  const all = [[userId, 'user'], [String(userCreatedAt), 'created'], ...names] as const
  return all.reduce((text, [id, name]) => text.replaceAll(id, name), JSON.stringify(value) ?? '')
}

async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (isAppError(error)) return { code: error.code, facts: error.facts }
    if (error instanceof DatabaseError) return error.code
    throw error
  }
}

async function perform(side: Side, operation: Operation): Promise<unknown> {
  const { account, limited, users, versions } = side
  const preconditionOf = async (kind: string | undefined, file: string) => {
    if (kind === undefined) return undefined
    if (kind === 'none') return { ifNoneMatch: '*' } as const
    const current = (await account.list()).find((each) => each.name === file)
    const etag = kind === 'current' && current !== undefined ? current.version : versions[0]
    return etag === undefined ? undefined : ({ ifMatch: [etag] } as const)
  }
  const begin = async ({ name: file, size: bytes, limits: by, ...options }: Begin) => {
    const version = createVersion()
    versions.push(version)
    return await limited[by].begin(file, bytes, {
      ...options,
      version,
      objectKey: objectKey(account.userId, version),
      precondition: await preconditionOf(options.precondition, file),
    })
  }
  const commit = async (asked: Commit, file = 'a') => {
    const { target: at, size: bytes, digest, limits: by, ...options } = asked
    const version = versions.at(-1 - at)
    if (version === undefined) return undefined
    return await limited[by].commit(version, bytes, {
      ...options,
      sha256: digest.repeat(64),
      precondition: await preconditionOf(options.precondition, file),
    })
  }
  switch (operation.kind) {
    case 'put':
      await begin(operation.begin)
      return await commit(
        { ...operation.commit, deviceId: operation.begin.deviceId },
        operation.begin.name,
      )
    case 'begin':
      return await begin(operation)
    case 'commit':
      return await commit(operation)
    case 'extend': {
      const version = versions.at(-1 - operation.target)
      return version && (await account.extend(version, operation.size))
    }
    case 'abort': {
      const version = versions.at(-1 - operation.target)
      return version && (await account.abort(version))
    }
    case 'remove':
      return await account.remove(operation.name, { credential: operation.credential })
    case 'change': {
      const { name: file, metadata: patch, isKept } = operation
      return await account.change(file, { metadata: patch, isKept })
    }
    case 'restore': {
      const past = (await account.past())[operation.target]
      const { credential: by } = operation
      return past && (await account.restore(past.version, { overwrite: true, credential: by }))
    }
    case 'device': {
      const grant = { ...grantOf(account.userId, 'front'), source: 'device', bytes: 0 }
      await users.putGrant({ ...grant, share: operation.share })
      return undefined
    }
    case 'status':
      return await users.setUserStatus(account.userId, operation.status)
    case 'advance':
      return undefined
  }
}
