import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientAddress, parseClientAddress } from '../../../src/core/auth/client-address.ts'
import {
  countFailedAttempts,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from '../../../src/core/auth/failed-attempts.ts'
import type { FailedAttemptStore } from '../../../src/core/auth/failed-attempt-store.ts'
import type { LedgerHarness } from '../ledger/fixture.ts'

const POLICY: FailedAttemptPolicy = {
  maxFailedAttempts: 1000,
  windowMs: 60_000,
  firstBlockMs: 60_000,
  maxBlockMs: 60_000,
  memoryMs: 1000,
}

/** The rules of the port `FailedAttemptStore`. */
export function guessCountsContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`C08 shared counts of guesses on ${name}`, () => {
    let harness: LedgerHarness
    let address: ClientAddress

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(() => {
      address = anyAddress()
    })

    /** Counts so many guesses of each address. */
    async function add(
      counts: FailedAttemptStore,
      addresses: readonly ClientAddress[],
      options: { failedAttempts?: number; policy?: FailedAttemptPolicy } = {},
    ): Promise<FailedAttemptCount | undefined> {
      const { failedAttempts = 1, policy = POLICY } = options
      const next = (_address: string, before: FailedAttemptCount, now: number) =>
        countFailedAttempts(before, { failedAttempts, now }, policy)
      return (await counts.update(addresses, next)).counts.get(address)
    }

    it('add up over instances', async () => {
      await add(harness.failedAttempts, [address], { failedAttempts: 2 })
      const count = await add(harness.otherFailedAttempts, [address], { failedAttempts: 3 })
      expect(count).toMatchObject({ failedAttempts: 5, blocks: 0 })
    })

    it('are by the clock of the database', async () => {
      const before = harness.now()
      const { now } = await harness.failedAttempts.update([address], (_address, count) => count)
      expect(now).toBeGreaterThanOrEqual(before)
      expect(now).toBeLessThanOrEqual(harness.now())
      const count = await add(harness.failedAttempts, [address])
      expect(count?.windowEndsAt).toBeGreaterThanOrEqual(before + POLICY.windowMs)
      expect(count?.windowEndsAt).toBeLessThanOrEqual(harness.now() + POLICY.windowMs)
    })

    it('lose none when instances count the same addresses at once', async () => {
      const addresses = [address, ...Array.from({ length: 20 }, anyAddress)]
      const calls = Array.from({ length: 12 }, (_, index) =>
        add(
          index % 2 === 0 ? harness.failedAttempts : harness.otherFailedAttempts,
          shuffled(addresses),
        ),
      )
      await Promise.all(calls)
      expect(await add(harness.failedAttempts, [address])).toMatchObject({ failedAttempts: 13 })
    })

    it('are not written while an address is blocked', async () => {
      const blocking = { failedAttempts: 5, policy: { ...POLICY, maxFailedAttempts: 5 } }
      const blocked = await add(harness.failedAttempts, [address], blocking)
      const writes = await harness.countWrites(address)
      for (let call = 0; call < 3; call += 1) {
        expect(await add(harness.otherFailedAttempts, [address], blocking)).toEqual(blocked)
      }
      expect(await harness.countWrites(address)).toBe(writes)
      const other = anyAddress()
      const before = await harness.countWrites(other)
      await add(harness.failedAttempts, [address, other], blocking)
      expect(await harness.countWrites(other)).not.toBe(before)
      expect(await harness.countWrites(address)).toBe(writes)
    })

    it('take as many addresses as a call may name', async () => {
      const addresses = Array.from({ length: 499 }, (_, index) =>
        parseClientAddress(`198.18.${index >> 8}.${index & 255}`),
      )
      await add(harness.failedAttempts, [address, ...addresses])
      expect(await add(harness.failedAttempts, [address, ...addresses])).toMatchObject({
        failedAttempts: 2,
      })
    })

    it('are forgotten when they have expired, and not before', async () => {
      const short = { ...POLICY, windowMs: 1000 }
      const kept = anyAddress()
      await add(harness.failedAttempts, [kept])
      await add(harness.failedAttempts, [address], { policy: short })
      while ((await harness.failedAttempts.forgetExpired(3)) > 0);
      expect(await add(harness.failedAttempts, [address], { policy: short })).toMatchObject({
        failedAttempts: 2,
      })
      await harness.advance(1001)
      expect(await harness.failedAttempts.forgetExpired(1)).toBe(1)
      expect(await harness.failedAttempts.forgetExpired(1)).toBe(0)
      expect(await add(harness.failedAttempts, [address])).toMatchObject({ failedAttempts: 1 })
      expect(await countOf(kept)).toMatchObject({ failedAttempts: 1 })
    })

    async function countOf(address: ClientAddress): Promise<FailedAttemptCount | undefined> {
      const { counts } = await harness.failedAttempts.update([address], (_address, count) => count)
      return counts.get(address)
    }
  })
}

function anyAddress(): ClientAddress {
  return parseClientAddress(`10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`)
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
