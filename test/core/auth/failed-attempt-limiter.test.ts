import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import {
  FAILED_ATTEMPT_POLICY,
  type FailedAttemptPolicy,
} from '../../../src/core/auth/failed-attempts.ts'
import type { FailedAttemptStore } from '../../../src/core/auth/failed-attempt-store.ts'
import {
  createFailedAttemptLimiter,
  type FailedAttemptLimiter,
} from '../../../src/core/auth/failed-attempt-limiter.ts'
import { createFailedAttemptStore } from '../../../src/database/users/failed-attempts.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'

const POLICY: FailedAttemptPolicy = { ...FAILED_ATTEMPT_POLICY, maxFailedAttempts: 10 }
const address = parseClientAddress('192.0.2.7')
const neighbour = parseClientAddress('192.0.2.8')

interface Options {
  readonly counts?: Partial<FailedAttemptStore>
  readonly maxAddresses?: number
  /** How far the instance's clock is ahead of the database's, in milliseconds. */
  readonly aheadMs?: number
}

function openLimiter(core: TestCore, options: Options = {}): FailedAttemptLimiter {
  const { maxAddresses = 100, aheadMs = 12_345 } = options
  const counts = { ...createFailedAttemptStore(core.database), ...options.counts }
  const clock = () => core.clock.now + aheadMs
  return createFailedAttemptLimiter({ counts, policy: POLICY, maxAddresses, clock })
}

function attempt(limiter: FailedAttemptLimiter, times: number, from = address): void {
  for (let failedAttempts = 0; failedAttempts < times; failedAttempts += 1) limiter.note(from)
}

async function rowsOf(core: TestCore): Promise<readonly unknown[]> {
  return (await sql`SELECT * FROM guesses ORDER BY address`.execute(core.database.kysely)).rows
}

describe('C08 the limiter of guesses', () => {
  it('blocks an address at once, and no other', async () => {
    await using core = await openTestCore()
    const limiter = openLimiter(core)
    attempt(limiter, 9)
    expect(limiter.blockedMs(address)).toBe(0)
    attempt(limiter, 1)
    expect(limiter.blockedMs(address)).toBe(60_000)
    expect(limiter.blockedMs(neighbour)).toBe(0)
    core.clock.now += 59_999
    expect(limiter.blockedMs(address)).toBe(1)
    core.clock.now += 1
    expect(limiter.blockedMs(address)).toBe(0)
  })

  it('adds up what instances count, and tells all of the block', async () => {
    await using core = await openTestCore()
    const here = openLimiter(core)
    const there = openLimiter(core, { aheadMs: -98_765 })
    attempt(here, 6)
    await here.share()
    attempt(there, 4)
    expect(there.blockedMs(address)).toBe(0)
    await there.share()
    expect(there.blockedMs(address)).toBe(60_000)
    core.clock.now += 1000
    attempt(here, 1)
    expect(here.blockedMs(address)).toBe(0)
    await here.share()
    expect(here.blockedMs(address)).toBe(59_000)
  })

  it('counts what comes while it shares', async () => {
    await using core = await openTestCore()
    const counts = createFailedAttemptStore(core.database)
    const limiter = openLimiter(core, {
      counts: {
        async update(addresses, next) {
          attempt(limiter, 4)
          return await counts.update(addresses, next)
        },
      },
    })
    attempt(limiter, 5)
    await limiter.share()
    attempt(limiter, 1)
    expect(limiter.blockedMs(address)).toBe(60_000)
  })

  it('writes once for many guesses, and never while the address is blocked', async () => {
    await using core = await openTestCore()
    const counts = createFailedAttemptStore(core.database)
    let updates = 0
    const limiter = openLimiter(core, {
      counts: {
        update(addresses, next) {
          updates += 1
          return counts.update(addresses, next)
        },
      },
    })
    await limiter.share()
    expect(updates).toBe(0)
    attempt(limiter, 10)
    await limiter.share()
    expect(updates).toBe(1)
    const rows = await rowsOf(core)
    expect(rows).toMatchObject([{ address, blocks: 1, blocked_until: core.clock.now + 60_000 }])
    attempt(limiter, 1000)
    await limiter.share()
    expect(updates).toBe(1)
    expect(await rowsOf(core)).toEqual(rows)
  })

  it('goes on by its own count while the database fails', async () => {
    await using core = await openTestCore()
    const update = () => Promise.reject(outage())
    const limiter = openLimiter(core, { counts: { update } })
    attempt(limiter, 6)
    await expect(limiter.share()).rejects.toMatchObject({ code: 'unavailable' })
    expect(limiter.blockedMs(address)).toBe(0)
    attempt(limiter, 4)
    expect(limiter.blockedMs(address)).toBe(60_000)
    await expect(limiter.share()).rejects.toMatchObject({ code: 'unavailable' })
    expect(limiter.blockedMs(address)).toBe(60_000)
  })

  it('remembers so many addresses, and forgets those that were quiet longest', async () => {
    await using core = await openTestCore()
    const limiter = openLimiter(core, { maxAddresses: 3 })
    attempt(limiter, 10)
    attempt(limiter, 10, neighbour)
    attempt(limiter, 1, parseClientAddress('192.0.2.100'))
    expect(limiter.blockedMs(address)).toBe(60_000)
    attempt(limiter, 1, parseClientAddress('192.0.2.101'))
    expect(limiter.blockedMs(address)).toBe(60_000)
    expect(limiter.blockedMs(neighbour)).toBe(0)
  })

  it('learns a block again that it has forgotten', async () => {
    await using core = await openTestCore()
    const limiter = openLimiter(core, { maxAddresses: 1 })
    attempt(limiter, 10)
    await limiter.share()
    attempt(limiter, 1, neighbour)
    expect(limiter.blockedMs(address)).toBe(0)
    attempt(limiter, 1)
    await limiter.share()
    expect(limiter.blockedMs(address)).toBe(60_000)
  })

  it('shares no more than 500 addresses at once, and the rest the next time', async () => {
    await using core = await openTestCore()
    const limiter = openLimiter(core, { maxAddresses: 1000 })
    for (let host = 0; host < 700; host += 1) {
      limiter.note(parseClientAddress(`10.0.${host >> 8}.${host & 255}`))
    }
    await limiter.share()
    expect(await rowsOf(core)).toHaveLength(500)
    await limiter.share()
    expect(await rowsOf(core)).toHaveLength(700)
  })

  it('leaves nothing in the database of addresses that have been quiet', async () => {
    await using core = await openTestCore()
    const limiter = openLimiter(core)
    attempt(limiter, 10)
    attempt(limiter, 1, neighbour)
    await limiter.share()
    core.clock.now += 60_000
    await limiter.forgetExpired()
    expect(await rowsOf(core)).toMatchObject([{ address }])
    core.clock.now += 15 * 60_000
    await limiter.forgetExpired()
    expect(await rowsOf(core)).toEqual([])
  })
})
