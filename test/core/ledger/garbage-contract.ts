import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../../src/database/ledger.ts'
import {
  type Account,
  accountOf,
  BASE_CAPACITY,
  count,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
  refusalOf,
} from './fixture.ts'

const MIB = 2 ** 20

/** What an object counts beside its content. */
const OVERHEAD = 4096

/** What a user's garbage may hold whatever the capacity. */
const LEAST_GARBAGE = 64 * MIB

const CAPACITY = 100 * MIB

const AT_ONCE = { times: { garbageDelayMs: 0 } } as const

/** The bound of what one user's replaced and deleted objects hold, of the port `Ledger`. */
export function ledgerGarbageContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`garbage in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      await account.grant('more', CAPACITY - BASE_CAPACITY)
    })

    const overwrite = (size: number, times: number): Promise<unknown> =>
      Array.from({ length: times }).reduce<Promise<unknown>>(
        (before) => before.then(() => account.put('a', size)),
        Promise.resolve(),
      )

    it('lets a file be replaced until three times the capacity are held, and not once more', async () => {
      await overwrite(50 * MIB, 3)
      const sooner = account.through(
        harness.with({ times: { garbageDelayMs: LONG_MS / 2 } }).ledger,
      )
      await sooner.put('a', 50 * MIB)
      await account.put('a', 50 * MIB)
      const refusal = await refusalOf(account.begin('a', 50 * MIB))
      expect(refusal).toMatchObject({ code: 'too_many_requests' })
      // Until the first of it is due.
      expect(refusal.facts['retry_after']).toBeGreaterThan(LONG_MS / 2000 - 60)
      expect(refusal.facts['retry_after']).toBeLessThanOrEqual(LONG_MS / 2000)
      // 200 MiB of garbage, four overheads, 50 MiB in use.
      const exact = 50 * MIB - 4 * OVERHEAD
      expect(await outcomeOf(account.begin('a', exact + 1))).toBe('too_many_requests')
      await account.put('a', exact)
      expect(await account.usage()).toMatchObject({ used: exact, reserved: 0, fileCount: 1 })
    })

    it('holds the last of them to the size that came, not to the one that was announced', async () => {
      await overwrite(50 * MIB, 5)
      const version = await account.begin('a', 1)
      expect(await outcomeOf(account.commit(version, 50 * MIB))).toBe('too_many_requests')
      expect(await account.size('a')).toBe(50 * MIB)
      expect((await account.commit(version, 50 * MIB - 4 * OVERHEAD)).replaced).toBe(true)
    })

    it('takes uploads to new names for as long as they fit beside the garbage', async () => {
      await overwrite(50 * MIB, 5)
      expect(await outcomeOf(account.put('b', 50 * MIB))).toBe('too_many_requests')
      await account.put('b', 40 * MIB)
    })

    it('holds what other uploads have reserved', async () => {
      await overwrite(50 * MIB, 5)
      const other = await account.begin('b', 30 * MIB)
      // All of it is within the capacity.
      expect(await outcomeOf(account.begin('c', 20 * MIB))).toBe('too_many_requests')
      await account.abort(other)
      await account.put('c', 20 * MIB)
    })

    it('refuses no removal and no rename, counts what they leave, and then refuses uploads', async () => {
      for (let round = 0; round < 4; round += 1) {
        await account.put('a', 60 * MIB)
        await account.put('b', 5)
        await account.change('b', { newName: 'a', overwrite: true })
        await account.remove('a')
      }
      expect(await account.usage()).toMatchObject({ used: 0, fileCount: 0 })
      const exact = 60 * MIB - 4 * (5 + 2 * OVERHEAD)
      expect(await outcomeOf(account.begin('c', exact + 1))).toBe('too_many_requests')
      await account.put('c', exact)
      await account.remove('c')
      expect(await outcomeOf(account.begin('d', 1))).toBe('too_many_requests')
    })

    it('lets what is small be replaced beyond three times a small capacity', async () => {
      const small = await openAccount(harness)
      for (let round = 0; round < 20; round += 1) await small.put('a', BASE_CAPACITY)
      expect(await small.usage()).toMatchObject({ used: BASE_CAPACITY })
    })

    it('counts empty objects too', async () => {
      const small = await openAccount(harness)
      await small.grant('whole', LEAST_GARBAGE - BASE_CAPACITY)
      await small.put('a', LEAST_GARBAGE)
      await small.put('a', 0)
      // 64 MiB and an overhead are held, beside nothing: two thirds of the bound.
      await small.put('a', LEAST_GARBAGE)
      await small.remove('a')
      expect(await outcomeOf(small.begin('b', LEAST_GARBAGE - 3 * OVERHEAD))).toBe('ok')
      expect(await outcomeOf(small.begin('b', LEAST_GARBAGE - 3 * OVERHEAD + 1))).not.toBe('ok')
    })

    it('lets a file that is larger than the capacity of today be replaced by a smaller one', async () => {
      await account.put('a', 90 * MIB)
      await account.grant('more', 0)
      await account.put('a', 80 * MIB)
      await account.put('a', 60 * MIB)
      expect(await account.usage()).toMatchObject({ capacity: BASE_CAPACITY, used: 60 * MIB })
    })

    it('gives way as the sweeper removes the garbage', async () => {
      const atOnce = account.through(harness.with(AT_ONCE).ledger)
      for (let round = 0; round < 5; round += 1) await atOnce.put('a', 50 * MIB)
      expect(await outcomeOf(account.begin('a', 50 * MIB))).toBe('too_many_requests')
      await harness.advance(1)
      await removeGarbage(harness.ledger, account)
      await overwrite(50 * MIB, 4)
      expect(await outcomeOf(account.begin('a', 50 * MIB))).toBe('too_many_requests')
    })

    it('leaves nothing to the next user of the id', async () => {
      await overwrite(50 * MIB, 5)
      await harness.with({ times: { retentionMs: -1 } }).ledger.forgetUploads({ limit: 1000 })
      const { userId } = account
      await harness.users.deleteUser(userId)
      const purge = () => harness.ledger.purgeDeletedUsers({ limit: 2 })
      await purge()
      // Two of the four, without which the user is not forgotten.
      const half = 2 * (50 * MIB + OVERHEAD)
      expect(await harness.garbageBytes(userId)).toEqual({ recorded: half, counted: half })
      while ((await purge()) > 0);
      expect(await account.usage()).toBe(undefined)
      const { user } = await harness.users.createUser(userId)
      const next = accountOf({ ...harness, userId, userCreatedAt: user.createdAt })
      await next.grant('more', CAPACITY - BASE_CAPACITY)
      await harness.advance(1)
      // What was the former user's goes without touching the count of this one.
      await removeGarbage(harness.ledger, next)
      for (let round = 0; round < 5; round += 1) await next.put('a', 50 * MIB)
      expect(await outcomeOf(next.begin('a', 50 * MIB))).toBe('too_many_requests')
    })

    it('is recorded as its rows add up while files come and go and sweeps forget it, on two instances', async () => {
      const { ledger, other } = harness.with(AT_ONCE)
      const [here, there] = [account.through(ledger), account.through(other)]
      const both = [here, there]
      const work = Array.from({ length: 36 }, async (_, index) => {
        const [mine, name] = [both[index % 2] ?? here, `f${index % 5}`]
        await mine.put(name, index)
        if (index % 3 === 0) await outcomeOf(mine.remove(name))
        if (index % 4 === 0) {
          await outcomeOf(mine.change(name, { newName: 'f0', overwrite: true }))
        }
        if (index % 5 === 0) await removeGarbage(index % 2 ? harness.ledger : harness.other, mine)
      })
      await Promise.all(work)
      await here.put('f0', 1)
      await here.put('f0', 2)
      const { recorded, counted } = await harness.garbageBytes(account.userId)
      expect(recorded).toBe(counted)
      expect(counted).toBeGreaterThan(OVERHEAD)
      await harness.advance(1)
      await removeGarbage(harness.ledger, account)
      expect(await harness.garbageBytes(account.userId)).toEqual({ recorded: 0, counted: 0 })
    })

    it('is exact when many uploads end at once, on two instances', async () => {
      const both = [account, account.through(harness.other)]
      const at = (index: number): Account => both[index % 2] ?? account
      await account.put('a', 20 * MIB)
      const versions = await Promise.all(
        Array.from({ length: 24 }, (_, index) => at(index).begin('a', 20 * MIB)),
      )
      const commits = versions.map((version, index) =>
        outcomeOf(at(index).commit(version, 20 * MIB)),
      )
      const outcomes = await Promise.all(commits)
      // 20 MiB in use, and as much for each commit: the fourteenth would hold more than 300 MiB, by its overheads.
      expect([count(outcomes, 'ok'), count(outcomes, 'too_many_requests')]).toEqual([13, 11])
      expect((await harness.keys(account.userId)).garbage).toHaveLength(13)
    })
  })
}

async function removeGarbage(ledger: Ledger, { userId }: Account): Promise<void> {
  const page = await ledger.listGarbage({ after: undefined, limit: 10_000 })
  const removed = page.filter(({ objectKey }) => objectKey.includes(userId))
  const ofUser = Map.groupBy(removed, (garbage) => garbage.userId)
  for (const [owner, removed] of ofUser) {
    await ledger.noteGarbageRemovals({ userId: owner, removed, failed: [] })
  }
}
