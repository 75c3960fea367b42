import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientAddress, parseClientAddress } from '../../../src/core/auth/client-address.ts'
import {
  countGuesses,
  type GuessCount,
  type GuessPolicy,
} from '../../../src/core/auth/failed-attempts.ts'
import type { GuessCounts } from '../../../src/core/auth/failed-attempt-store.ts'
import type { LedgerHarness } from '../ledger/fixture.ts'

const POLICY: GuessPolicy = {
  maxGuesses: 1000,
  windowMs: 60_000,
  firstBlockMs: 60_000,
  maxBlockMs: 60_000,
  memoryMs: 1000,
}

/** The rules of the port `GuessCounts`. */
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
      counts: GuessCounts,
      addresses: readonly ClientAddress[],
      options: { guesses?: number; policy?: GuessPolicy } = {},
    ): Promise<GuessCount | undefined> {
      const { guesses = 1, policy = POLICY } = options
      const next = (_address: string, before: GuessCount, now: number) =>
        countGuesses(before, { guesses, now }, policy)
      return (await counts.update(addresses, next)).counts.get(address)
    }

    it('add up over instances', async () => {
      await add(harness.guesses, [address], { guesses: 2 })
      const count = await add(harness.otherGuesses, [address], { guesses: 3 })
      expect(count).toMatchObject({ guesses: 5, blocks: 0 })
    })

    it('are by the clock of the database', async () => {
      const before = harness.now()
      const { now } = await harness.guesses.update([address], (_address, count) => count)
      expect(now).toBeGreaterThanOrEqual(before)
      expect(now).toBeLessThanOrEqual(harness.now())
      const count = await add(harness.guesses, [address])
      expect(count?.windowEndsAt).toBeGreaterThanOrEqual(before + POLICY.windowMs)
      expect(count?.windowEndsAt).toBeLessThanOrEqual(harness.now() + POLICY.windowMs)
    })

    it('lose none when instances count the same addresses at once', async () => {
      const addresses = [address, ...Array.from({ length: 20 }, anyAddress)]
      const calls = Array.from({ length: 12 }, (_, index) =>
        add(index % 2 === 0 ? harness.guesses : harness.otherGuesses, shuffled(addresses)),
      )
      await Promise.all(calls)
      expect(await add(harness.guesses, [address])).toMatchObject({ guesses: 13 })
    })

    it('are not written while an address is blocked', async () => {
      const blocking = { guesses: 5, policy: { ...POLICY, maxGuesses: 5 } }
      const blocked = await add(harness.guesses, [address], blocking)
      const writes = await harness.countWrites(address)
      for (let call = 0; call < 3; call += 1) {
        expect(await add(harness.otherGuesses, [address], blocking)).toEqual(blocked)
      }
      expect(await harness.countWrites(address)).toBe(writes)
      const other = anyAddress()
      const before = await harness.countWrites(other)
      await add(harness.guesses, [address, other], blocking)
      expect(await harness.countWrites(other)).not.toBe(before)
      expect(await harness.countWrites(address)).toBe(writes)
    })

    it('take as many addresses as a call may name', async () => {
      const addresses = Array.from({ length: 499 }, (_, index) =>
        parseClientAddress(`198.18.${index >> 8}.${index & 255}`),
      )
      await add(harness.guesses, [address, ...addresses])
      expect(await add(harness.guesses, [address, ...addresses])).toMatchObject({ guesses: 2 })
    })

    it('are forgotten when they have expired, and not before', async () => {
      const short = { ...POLICY, windowMs: 1000 }
      const kept = anyAddress()
      await add(harness.guesses, [kept])
      await add(harness.guesses, [address], { policy: short })
      while ((await harness.guesses.forgetExpired(3)) > 0);
      expect(await add(harness.guesses, [address], { policy: short })).toMatchObject({ guesses: 2 })
      await harness.advance(1001)
      expect(await harness.guesses.forgetExpired(1)).toBe(1)
      expect(await harness.guesses.forgetExpired(1)).toBe(0)
      expect(await add(harness.guesses, [address])).toMatchObject({ guesses: 1 })
      expect(await countOf(kept)).toMatchObject({ guesses: 1 })
    })

    async function countOf(address: ClientAddress): Promise<GuessCount | undefined> {
      const { counts } = await harness.guesses.update([address], (_address, count) => count)
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
