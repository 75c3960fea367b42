import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Version } from '../../../src/core/objects/object-key.ts'
import { type Account, count, type LedgerHarness, openAccount, outcomeOf, race } from './fixture.ts'

const ROUNDS = 100

/**
 * The rules of the port `Ledger` when many call it at once, through one instance and through two.
 */
export function ledgerRaceContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`ledger under concurrency on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let twin: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      twin = account.through(harness.other)
    })

    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }
    const either = (index: number): Account => (index % 2 === 0 ? account : twin)

    it('D07 of 40 parallel tenths takes exactly ten', async () => {
      const begins = Array.from({ length: 40 }, (_, index) => account.begin(`f${index}`, 10))
      const outcomes = await Promise.all(begins.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(10)
      expect(count(outcomes, 'capacity_exceeded')).toBe(30)
      expect(await account.usage()).toMatchObject({ used: 0, reserved: 100 })
      await sums()
    })

    it('D07 of 40 parallel tenths takes exactly ten on two instances', async () => {
      const begins = Array.from({ length: 40 }, (_, index) => either(index).begin(`f${index}`, 10))
      const outcomes = await Promise.all(begins.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(10)
      expect(count(outcomes, 'capacity_exceeded')).toBe(30)
      await sums()
    })

    it('H12 of 40 parallel uploads lets in exactly as many as may be under way', async () => {
      const { ledger, other } = harness.with({ limits: { maxUploads: 7 } })
      const begins = Array.from({ length: 40 }, (_, index) =>
        account.through(index % 2 === 0 ? ledger : other).begin(`f${index % 30}`, 0),
      )
      const outcomes = await Promise.all(begins.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(7)
      expect(count(outcomes, 'too_many_requests')).toBe(33)
      expect(await harness.runningUploads(account.userId)).toBe(7)
      await sums()
    })

    it('D07 of 40 uploads that reserved nothing commits exactly ten tenths', async () => {
      const versions: Version[] = []
      for (let index = 0; index < 40; index++) versions.push(await account.begin(`f${index}`, 0))
      const commits = versions.map((version, index) => either(index).commit(version, 10))
      const outcomes = await Promise.all(commits.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(10)
      expect(count(outcomes, 'capacity_exceeded')).toBe(30)
      expect(await account.usage()).toMatchObject({ used: 100, fileCount: 10 })
      await sums()
    })

    it('D09 of parallel overwrites the last one counts, whole', async () => {
      await account.put('a', 5)
      const versions: Version[] = []
      for (let size = 1; size <= 20; size++) versions.push(await account.begin('a', 0))
      await Promise.all(versions.map((version, index) => either(index).commit(version, index + 1)))
      const usage = await account.usage()
      expect(usage).toMatchObject({ used: await account.size('a'), reserved: 0, fileCount: 1 })
      await sums()
    })

    it('keeps the sums when extends, commits and aborts of few names run at once', async () => {
      const work = Array.from({ length: 30 }, async (_, index) => {
        const version = await either(index).begin(`f${index % 3}`, index % 7)
        await either(index + 1).extend(version, 9)
        if (index % 4 === 0) return await account.abort(version)
        return await either(index).commit(version, index % 10)
      })
      const outcomes = await Promise.all(work.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBeGreaterThan(0)
      expect(count(outcomes, 'ok') + count(outcomes, 'capacity_exceeded')).toBe(outcomes.length)
      const usage = await account.usage()
      expect(usage?.reserved).toBe(await pendingOf(harness, account))
      expect(usage?.used).toBeLessThanOrEqual(100)
      await sums()
    })

    it('lets exactly one of commit and abort win', async () => {
      await account.begin('bystander', 7)
      const wins = { committed: 0, aborted: 0, forgotten: 0 }
      for (let round = 0; round < ROUNDS; round++) {
        const name = `f${round}`
        const version = await account.begin(name, 1)
        const [committed, settled] = await race(round, {
          one: () => outcomeOf(account.commit(version, 0)),
          // Two connections of one thread block each other on SQLite, so not in every round.
          another: () => (round % 4 < 2 ? account : twin).abort(version),
        })
        expect(committed).toBe(settled === 'committed' ? 'ok' : 'unavailable')
        expect(await account.size(name)).toBe(settled === 'committed' ? 0 : undefined)
        wins[settled ?? 'aborted']++
      }
      expect(wins.committed + wins.aborted).toBe(ROUNDS)
      expect(Math.min(wins.committed, wins.aborted)).toBeGreaterThan(0)
      expect(await account.usage()).toMatchObject({ used: 0, reserved: 7 })
      await sums()
    })

    it('releases once when several abort at once', async () => {
      await account.begin('bystander', 60)
      const version = await account.begin('a', 30)
      const aborts = Array.from({ length: 6 }, (_, index) => either(index).abort(version))
      expect(new Set(await Promise.all(aborts))).toEqual(new Set(['aborted']))
      expect(await account.usage()).toMatchObject({ reserved: 60 })
    })

    it('commits once when the same commit is sent several times', async () => {
      const version = await account.begin('a', 30)
      const commits = Array.from({ length: 6 }, (_, index) => either(index).commit(version, 30))
      const files = (await Promise.all(commits)).map(({ file }) => file)
      for (const file of files) expect(file).toEqual(files[0])
      expect(await account.usage()).toMatchObject({ used: 30, reserved: 0, fileCount: 1 })
    })

    it('purges a deleted user once when two sweepers meet', async () => {
      for (const name of ['a', 'b', 'c']) await account.put(name, 10)
      await account.begin('d', 10)
      await harness.users.deleteUser(account.userId)
      const { ledger, other } = harness
      const purge = { limit: 2 }
      const sweeps = [ledger, other, ledger, other].map((each) => each.purgeDeletedUsers(purge))
      await Promise.all(sweeps)
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      expect(await harness.audit(account.userId)).toEqual({ used: 0, reserved: 0, fileCount: 0 })
    })
  })
}

async function pendingOf(harness: LedgerHarness, account: Account): Promise<number> {
  return (await harness.audit(account.userId)).reserved
}
