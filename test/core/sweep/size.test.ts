import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../../src/database/ledger.ts'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, sweepOnce, type TestCore } from '../../support/service/test-core.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { openAccount } from '../ledger/fixture.ts'
import { createTestUser } from '../../support/service/test-repository.ts'
import { countGarbage, countObjects, litter, watched } from './fixture.ts'

const MANY = 5_000
const SWEEP_INTERVAL_MS = 20_000

/** The ledger as a sweeper has it that nobody keeps from sweeping beside another. */
function unguarded(ledger: Ledger): Ledger {
  return { ...ledger, acquireLeaderLease: async () => true }
}

/** The ledger, and the longest list that it gave or was given. */
function measured(ledger: Ledger): { readonly ledger: Ledger; readonly longest: () => number } {
  let longest = 0
  const measured: Ledger = {
    ...ledger,
    async listGarbage(page) {
      const garbage = await ledger.listGarbage(page)
      longest = Math.max(longest, garbage.length)
      return garbage
    },
    noteGarbageRemovals(removals) {
      longest = Math.max(longest, removals.removed.length + removals.failed.length)
      return ledger.noteGarbageRemovals(removals)
    },
  }
  return { ledger: measured, longest: () => longest }
}

describe(`a sweep of ${MANY} objects`, () => {
  it('holds a page of them at a time, removes 8 at once, and each once', async () => {
    await using core = await openTestCore()
    await litter(core, MANY)
    const { objects, removals, mostAtOnce } = watched(core.objects, () => setImmediate())
    const { ledger, longest } = measured(core.ledger)
    const told: number[] = []
    const sweeper = createSweeper({ ledger, objects })
    const report = await sweeper.sweep({
      signal: AbortSignal.timeout(60_000),
      onProgress: ({ removedObjects }) => told.push(removedObjects),
    })
    expect(report).toMatchObject({ removedObjects: MANY, failedRemovals: 0, end: 'complete' })
    expect(longest()).toBe(64)
    expect(mostAtOnce()).toBe(8)
    expect(removals.size).toBe(MANY)
    expect(Math.max(...removals.values())).toBe(1)
    expect(new Set(told).size).toBe(MANY + 1)
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })

  it('a sweep that is cut off in the middle is brought to its end by the next', async () => {
    await using core = await openTestCore()
    await litter(core, MANY)
    const stop = new AbortController()
    const { objects, removals } = watched(core.objects, async () => {
      if (removals.size === MANY / 2) stop.abort(new Error('stop'))
    })
    const sweeper = createSweeper({ ledger: core.ledger, objects })
    await expect(sweeper.sweep(stop)).rejects.toThrow('stop')
    const left = await countGarbage(core)
    expect(left).toBeGreaterThan(MANY / 2 - 200)
    expect(left).toBeLessThan(MANY / 2 + 200)
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: left, failedRemovals: 0 })
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })

  it('is shared by two sweepers that begin at once: one does it all', async () => {
    await using core = await openTestCore()
    await litter(core, MANY)
    const { objects, removals } = watched(core.objects)
    const reports = await Promise.all([1, 2].map(() => sweepOnce({ ...core, objects })))
    expect(reports.map(({ end }) => end).toSorted()).toEqual(['complete', 'elsewhere'])
    expect(reports.reduce((sum, { removedObjects }) => sum + removedObjects, 0)).toBe(MANY)
    expect(Math.max(...removals.values())).toBe(1)
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })

  it('two sweeps side by side fail nowhere and leave nothing', async () => {
    await using core = await openTestCore()
    await litter(core, MANY)
    const { objects } = watched(core.objects, () => setImmediate())
    const ports = { objects, ledger: unguarded(core.ledger) }
    const reports = await Promise.all([1, 2].map(() => sweepOnce(ports)))
    for (const report of reports) {
      expect(report).toMatchObject({ failedRemovals: 0, end: 'complete' })
      expect(report.removedObjects).toBeGreaterThan(0)
    }
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })
})

describe('a store that is down', () => {
  it('is given up after a page of removals, and swept when it is back', async () => {
    await using core = await openTestCore()
    await litter(core, 1_000, 1_000)
    const down = watched(core.objects, async () => {
      throw outage()
    })
    const report = await sweepOnce({ ...core, objects: down.objects })
    expect(report).toMatchObject({ removedObjects: 0, end: 'gave_up' })
    expect(report.failedRemovals).toBe(64)
    core.clock.now += SWEEP_INTERVAL_MS
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: 1_000, end: 'complete' })
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })

  it('a store that is down for hundreds of keys alone keeps no other from being removed', async () => {
    await using core = await openTestCore()
    const keys = await litter(core, 500, 1_000)
    const stubborn = new Set(keys.slice(0, 250))
    const { objects } = watched(core.objects, async (key) => {
      if (stubborn.has(key)) throw outage()
    })
    for (let sweeps = 0; sweeps < 6; sweeps++) {
      await sweepOnce({ ...core, objects })
      core.clock.now += SWEEP_INTERVAL_MS
    }
    expect(await countObjects(core)).toBe(250)
    await sweepOnce(core)
    expect([await countGarbage(core), await countObjects(core)]).toEqual([0, 0])
  })
})

describe('the purge of a user with many files', () => {
  it('lets others have their turn, and holds one page of rows at a time', async () => {
    await using core = await openTestCore()
    const userId = await createTestUser(core)
    await fill(core, 2_000)
    await core.users.deleteUser(userId)
    const rows: number[] = []
    const ledger: Ledger = {
      ...core.ledger,
      async purgeDeletedUsers(options) {
        const purged = await core.ledger.purgeDeletedUsers(options)
        rows.push(purged)
        return purged
      },
    }
    const state = { isOver: false }
    let turns = 0
    const sweeping = sweepOnce({ ...core, ledger }).finally(() => (state.isOver = true))
    while (!state.isOver) {
      await setImmediate()
      turns += 1
    }
    await sweeping
    expect(rows.length).toBeGreaterThanOrEqual(20)
    // Files and committed uploads, a hundred of each, and the user.
    expect(Math.max(...rows)).toBeLessThanOrEqual(201)
    expect(turns).toBeGreaterThanOrEqual(rows.length)
    expect(await core.users.findUser(userId)).toBeUndefined()
    expect(await countGarbage(core)).toBe(2_000)
  })
})

describe('the purge of many users', () => {
  it('asks for each of them once, and never searches through the earlier ones again', async () => {
    await using core = await openTestCore()
    const alice = await createTestUser(core)
    await fill(core, 250)
    const others: UserId[] = []
    for (const name of ['bob', 'carol', 'dave']) {
      const user = await openAccount(core)
      await user.begin(name, 1)
      others.push(user.userId)
    }
    for (const userId of [alice, ...others]) await core.users.deleteUser(userId)
    const searchedAfter: (UserId | undefined)[] = []
    const ledger: Ledger = {
      ...core.ledger,
      findUserToPurge(after) {
        searchedAfter.push(after)
        return core.ledger.findUserToPurge(after)
      },
    }
    await sweepOnce({ ...core, ledger })
    expect(searchedAfter).toEqual([undefined, ...[alice, ...others].sort()])
    expect(await core.users.findUser(alice)).toBeUndefined()
    for (const userId of others) {
      expect(await core.ledger.findAccount(userId)).toMatchObject({ usage: { reserved: 0 } })
    }
  })
})

/** Files of alice, each with its committed upload. */
async function fill({ database }: TestCore, count: number): Promise<void> {
  const numbers = sql`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
  `
  await sql`
    INSERT INTO files
      (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
    ${numbers} SELECT 'alice', 'f' || n, 'v' || n, 'users/alice/v' || n, 1, '', 0, 'private', 0, 0
    FROM numbers
  `.execute(database.kysely)
  await sql`
    INSERT INTO uploads
      (version, user_id, name, object_key, reserved_bytes, state, lease_until, settled_at)
    ${numbers} SELECT 'v' || n, 'alice', 'f' || n, 'users/alice/v' || n, 0, 'committed', 0, 0
    FROM numbers
  `.execute(database.kysely)
  await sql`UPDATE quotas SET used_bytes = ${count}, file_count = ${count}`.execute(database.kysely)
}

it('A sweep forgets changes of users that the sweeps before have not come to', async () => {
  await using core = await openTestCore()
  const { kysely } = core.database
  const numbers = sql`
    WITH RECURSIVE numbers (n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12100)
  `
  await sql`
    INSERT INTO users (id, status, created_at)
    ${numbers} SELECT 'u' || n, 'active', 1 FROM numbers
  `.execute(kysely)
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
    ${numbers} SELECT 'u' || n, 0, 0, 0 FROM numbers
  `.execute(kysely)
  await sql`
    INSERT INTO changes (user_id, sequence, type, at, previous_at)
    VALUES ('u12099', 1, 'capacity.normal', 1, 0), ('u10000', 1, 'capacity.normal', 1, 0)
  `.execute(kysely)
  const left = async () => {
    const { rows } = await sql<{ readonly user: string }>`
      SELECT user_id AS "user" FROM changes
    `.execute(kysely)
    return rows.map(({ user }) => user)
  }
  const { ledger, objects } = core
  const sweeper = createSweeper({ ledger, objects })
  await sweeper.sweep({ signal: AbortSignal.timeout(60_000) })
  expect(await left()).toEqual(['u12099'])
  await sweeper.sweep({ signal: AbortSignal.timeout(60_000) })
  expect(await left()).toEqual([])
})
