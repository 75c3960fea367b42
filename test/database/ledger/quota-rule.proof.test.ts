import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore, type UserStores } from '../../../src/database/users/user-store.ts'
import { type Account, grantOf, openAccount } from '../../core/ledger/fixture.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')

const MIB = 2 ** 20
const BASE_CAPACITY = 60 * MIB
const MAX_FILES = 2
const MAX_UPLOADS = 3

/** Near the capacity, and so large that a few replaced files meet the bound of the garbage. */
const bytes = fc.constantFrom(0, 0, 1, 20 * MIB, 30 * MIB, 30 * MIB + 1, 60 * MIB, 60 * MIB + 1)
const name = fc.constantFrom('a', 'b', 'c', 'd')
const upload = fc.nat({ max: 4 })
const credential = fc.constantFrom(undefined, undefined, 'camera')
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('begin' as const), name, bytes, credential }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('commit' as const), upload, bytes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('extend' as const), upload, bytes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), upload }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const), bytes }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      status: fc.constantFrom('active', 'active', 'suspended'),
    }),
  },
)

type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

describe.skipIf(server === undefined)('the quota rule on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let users: UserStores
  let ledgers: readonly Ledger[]

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
    users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    const limits = { maxFiles: MAX_FILES, maxUploads: MAX_UPLOADS }
    const settings = { baseCapacity: BASE_CAPACITY, limits }
    ledgers = [
      createLedger(database, settings),
      createLedger({ ...database, runBatch: undefined }, settings),
    ]
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  it('accepts and refuses the same in one statement as step by step, for the same reason', async () => {
    const reasons = new Set<string>()
    const follow = async (operations: readonly Operation[]): Promise<void> => {
      const sides = await Promise.all(
        ledgers.map(async (ledger) => {
          const account = await openAccount({ ledger, users })
          return { ledger, users, account, versions: [] as Version[] }
        }),
      )
      for (const each of operations) {
        const [batched, steps] = await Promise.all(sides.map((side) => perform(side, each)))
        expect({ ...each, outcome: batched }).toEqual({ ...each, outcome: steps })
        if (batched !== undefined) reasons.add(batched.code)
      }
      const [batched, steps] = await Promise.all(sides.map(changesOf))
      expect(batched).toEqual(steps)
    }
    const history = fc.array(operation, { minLength: 20, maxLength: 60 })
    await fc.assert(fc.asyncProperty(history, follow), { numRuns: 100 })
    // The histories come to every reason, or the property would show little.
    expect([...reasons].toSorted()).toEqual([
      'capacity_exceeded',
      'done',
      'file_count_exceeded',
      'not_found',
      'too_many_requests',
      'unavailable',
      'user_suspended',
    ])
  })
})

/** What the two sides must record alike: all but times and versions. */
async function changesOf({ ledger, users, account }: Side): Promise<unknown> {
  await users.setUserStatus(account.userId, 'active')
  const read = await ledger.readChanges({ ...account, after: 0, limit: 1000 })
  return read?.changes.map((change) => {
    const { sequence, type } = change
    if (!('file' in change)) return [sequence, type, change.used, change.capacity]
    const { name, size, sha256, visibility } = change.file
    return [sequence, type, name, size, sha256, visibility]
  })
}

interface Side {
  readonly ledger: Ledger
  readonly users: UserStores
  readonly account: Account
  readonly versions: Version[]
}

interface Outcome {
  readonly code: string
  readonly facts?: unknown
}

async function perform(side: Side, operation: Operation): Promise<Outcome | undefined> {
  const { ledger, account, versions } = side
  const { userId } = account
  switch (operation.kind) {
    case 'begin': {
      const { name, bytes, credential } = operation
      const asked = { ...account, name: parseFileName(name), bytes, credential }
      const foreseen = await outcomeOf(ledger.checkBegin(asked))
      const begun = account.begin(name, bytes, { credential })
      const outcome = await outcomeOf(begun)
      expectSame(foreseen, outcome)
      if (outcome.code === 'done') versions.push(await begun)
      return outcome
    }
    case 'commit': {
      const version = versions.at(-1 - operation.upload)
      if (version === undefined) return undefined
      return outcomeOf(account.commit(version, operation.bytes))
    }
    case 'extend': {
      const version = versions.at(-1 - operation.upload)
      return version === undefined ? undefined : outcomeOf(account.extend(version, operation.bytes))
    }
    case 'abort': {
      const version = versions.at(-1 - operation.upload)
      return version === undefined ? undefined : outcomeOf(account.abort(version))
    }
    case 'remove':
      return outcomeOf(account.remove(operation.name))
    case 'grant':
      return outcomeOf(side.users.putGrant({ ...grantOf(userId, 'gift'), bytes: operation.bytes }))
    case 'status':
      return outcomeOf(side.users.setUserStatus(userId, operation.status))
  }
}

/**
 * The garbage of two users becomes due at slightly different times, so that its wait is only looked at for being there.
 */
async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    await call
    return { code: 'done' }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { retry_after: wait, ...facts } = error.facts
    return { code: error.code, facts: { ...facts, hasWait: wait !== undefined } }
  }
}

function expectSame(foreseen: Outcome, outcome: Outcome): void {
  expect(foreseen).toEqual(outcome)
}
