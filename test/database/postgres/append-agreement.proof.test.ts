import * as fc from 'fast-check'
import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import {
  createVersion,
  type ObjectKey,
  type Version,
} from '../../../src/core/objects/object-key.ts'
import type { Piece } from '../../../src/core/resumable/append-store.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import type { UserStore } from '../../../src/core/users/user-store.ts'
import { LONG_MS, openAccount } from '../../core/ledger/fixture.ts'
import {
  DAY_MS,
  type Resumables,
  resumablesOf,
  tailPiece,
} from '../../core/ledger/resumable/fixture.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')

const target = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 2 }))
const usually = fc.nat({ max: 5 }).map((number) => number > 0)
const operation = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      length: fc.constantFrom(undefined, 0, 8, 60),
      isNew: fc.boolean(),
      file: fc.constantFrom('a', 'b', 'c'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      target,
      isOffset: usually,
      isEpoch: usually,
      hasTail: usually,
      holderMs: fc.constantFrom(0, 15_000, 15_000, 2 * DAY_MS),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      target,
      bytes: fc.constantFrom(0, 0, 1, 5, 8, 60),
      piece: fc.constantFrom('none', 'part', 'tail', 'tail'),
      isAdded: usually,
      end: fc.constantFrom('renew', 'release', 'release', 'seal', 'sealed'),
      sent: fc.constantFrom(undefined, undefined, 0, 3),
      lifetimeMs: fc.constantFrom(LONG_MS, DAY_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('fence', 'abort', 'prepare'), target }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      status: fc.constantFrom('active', 'active', 'suspended'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 15_001, LONG_MS / 2, LONG_MS, 26 * LONG_MS),
    }),
  },
)

type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

interface Claimed {
  readonly version: Version
  readonly epoch: number
  readonly tailKey: ObjectKey | undefined
}

interface Side {
  readonly ledger: Ledger
  readonly users: UserStore
  readonly uploads: Resumables
  /** Of its uploads and tail objects, in the order of their creation. */
  readonly ids: string[]
  readonly versions: Version[]
  readonly claims: Claimed[]
}

describe.skipIf(server === undefined)('the statements of appends on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  /** Which statements took effect, and which did not. */
  const seen = new Set<string>()

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
    await sql`INSERT INTO chores (name, holder, lease_until) VALUES ('clock', '', 1800000000000)`.execute(
      database.kysely,
    )
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  const clock = sql<number>`(SELECT lease_until FROM chores WHERE name = 'clock')`

  const openSides = (): Promise<readonly Side[]> => {
    const timed = { ...database, now: clock }
    const watched: Database = {
      ...timed,
      async execute(statement) {
        const rows = await timed.execute(statement)
        const [, name] = /(claimed|advanced) AS \(/.exec(statement.sql) ?? []
        if (name !== undefined) seen.add(`${name} ${rows.length}`)
        return rows
      },
    }
    return Promise.all(
      [watched, { ...timed, runBatch: undefined }].map(async (each) => {
        const ledger = createLedger(each, { baseCapacity: 10_000 })
        const users = createUserStore(database, { baseCapacity: 0 })
        const uploads = resumablesOf(ledger, await openAccount({ ledger, users }))
        return { ledger, users, uploads, ids: [], versions: [], claims: [] }
      }),
    )
  }

  const rowsOf = async ({ uploads: { userId } }: Side): Promise<readonly unknown[]> => {
    const tables = ['quotas', 'uploads', 'resumable_uploads'].map(
      (table) => sql`SELECT * FROM ${sql.table(table)} WHERE user_id = ${userId}`,
    )
    const pieces = sql`
      SELECT p.* FROM upload_pieces AS p JOIN uploads ON uploads.version = p.version WHERE user_id = ${userId}
    `
    const garbage = sql`SELECT * FROM garbage WHERE object_key LIKE ${`users/${userId}/%`}`
    const found = await Promise.all(
      [...tables, pieces, garbage].map((each) => each.execute(database.kysely)),
    )
    return found.flatMap(({ rows }) => rows)
  }

  it('do what the steps do, and leave the same rows', async () => {
    const follow = async (operations: readonly Operation[]): Promise<void> => {
      const sides = await openSides()
      for (const each of operations) {
        if (each.kind === 'advance') {
          const { ms } = each
          await sql`UPDATE chores SET lease_until = lease_until + ${ms} WHERE name = 'clock'`.execute(
            database.kysely,
          )
        }
        const [fast, steps] = await Promise.all(
          sides.map(async (side) => {
            const outcome = await outcomeOf(perform(side, each))
            const rows = (await rowsOf(side)).map((row) => neutral(side, row))
            return { outcome: neutral(side, outcome), rows: rows.toSorted() }
          }),
        )
        expect({ ...each, left: fast }).toEqual({ ...each, left: steps })
      }
    }
    const history = fc.array(operation, { minLength: 15, maxLength: 40, size: 'max' })
    await fc.assert(fc.asyncProperty(history, follow), { numRuns: 80 })
    expect(seen).toEqual(new Set(['claimed 0', 'claimed 1', 'advanced 0', 'advanced 1']))
  }, 120_000)
})

/** The value as JSON in which the ids of this side have the names that those of the other one have. */
function neutral({ uploads: { userId, userCreatedAt }, ids }: Side, value: unknown): string {
  const names = ids.map((id, at) => [id, `id-${at}`] as const)
  const all = [[userId, 'user'], [String(userCreatedAt), 'created'], ...names] as const
  return all.reduce((text, [id, name]) => text.replaceAll(id, name), JSON.stringify(value) ?? '')
}

async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (isAppError(error) || error instanceof DatabaseError) return error.code
    throw error
  }
}

async function perform(side: Side, operation: Operation): Promise<unknown> {
  const { uploads, users, ids, versions } = side
  switch (operation.kind) {
    case 'create': {
      const { file, length, isNew } = operation
      const version = createVersion()
      const precondition = isNew ? ({ ifNoneMatch: '*' } as const) : undefined
      ids.push(version)
      const created = await uploads.create(file, length, {
        version,
        precondition,
        maxUnfinished: 4,
        maxLifetimeMs: 2 * DAY_MS,
      })
      versions.push(version)
      return created
    }
    case 'claim':
      return await claim(side, operation)
    case 'record':
      return await record(side, operation)
    case 'status':
      return void (await users.setUserStatus(uploads.userId, operation.status))
    case 'advance':
      return undefined
    case 'fence':
    case 'abort':
    case 'prepare':
      return await change(side, operation)
  }
}

type Change = Operation & { readonly kind: 'fence' | 'abort' | 'prepare' }

async function change(side: Side, { kind, target: at }: Change): Promise<unknown> {
  const { uploads, versions } = side
  const version = versions.at(-1 - at)
  if (version === undefined) return undefined
  const named = { userId: uploads.userId, version }
  if (kind === 'fence') return await side.ledger.fence(await uploads.find(named))
  if (kind === 'abort') {
    const outcome = await uploads.abort(named, { endedAs: 'cancelled' })
    // Nothing is told of it any more.
    if (outcome === 'forgotten') versions.splice(versions.indexOf(version), 1)
    return outcome
  }
  return await uploads.prepare(named, { bytes: 20 })
}

async function claim(
  { uploads, ids, versions, claims }: Side,
  { target: at, isOffset, isEpoch, hasTail, holderMs }: Operation & { readonly kind: 'claim' },
): Promise<unknown> {
  const version = versions.at(-1 - at)
  if (version === undefined) return undefined
  const found = await uploads.find({ userId: uploads.userId, version })
  const tailKey = hasTail ? uploads.tailKey() : undefined
  if (tailKey !== undefined) ids.push(tailKey.slice(tailKey.lastIndexOf('/') + 1))
  const claimed = await uploads.claim(found, {
    offset: found.offset + (isOffset ? 0 : 1),
    epoch: found.epoch - (isEpoch ? 0 : 1),
    tailKey,
    holderMs,
    storeState: `{"claim":${claims.length}}`,
  })
  if (claimed !== undefined) claims.push({ version, epoch: claimed.upload.epoch, tailKey })
  return claimed
}

async function record(
  { uploads, claims }: Side,
  operation: Operation & { readonly kind: 'record' },
): Promise<unknown> {
  const held = claims.at(-1 - operation.target)
  if (held === undefined) return undefined
  const { version, epoch, tailKey } = held
  const found = await uploads.find({ userId: uploads.userId, version })
  const { end, isAdded, lifetimeMs, piece: kind } = operation
  const isSealed = end === 'seal' || end === 'sealed'
  const offset = isSealed ? (found.length ?? found.offset) : found.offset + operation.bytes
  const firstByte = isAdded ? found.offset : 0
  const size = offset - firstByte
  const part: Piece = { firstByte, size, receipt: 'part', objectKey: undefined }
  const tail = tailKey && tailPiece(firstByte, { size, key: tailKey })
  const piece = kind === 'tail' ? (tail ?? part) : part
  return await uploads.record(found, {
    epoch,
    offset,
    replacedFrom: firstByte,
    pieces: kind === 'none' || size <= 0 ? [] : [piece],
    lifetimeMs,
    storeState: `{"record":"${end}"}`,
    holderMs: end === 'renew' || end === 'seal' ? 15_000 : undefined,
    sealed: isSealed ? { sha256: undefined } : undefined,
    sentTailBytes: operation.sent,
  })
}
