import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measureUsers } from '../../../src/core/overview/overview.ts'
import { NOTHING } from '../../../src/core/overview/overview-ledger.ts'
import { type Account, BASE_CAPACITY, type LedgerHarness, openAccount } from './fixture.ts'

const DAY_MS = 86_400_000
const OBJECT_BYTES = 4096

/** What all users have together. The harness keeps a history and queues webhooks. */
export function ledgerOverviewContract(
  name: string,
  open: (options: {
    readonly historyLifetimeMs: number
    readonly historyShare: number
  }) => Promise<LedgerHarness>,
): void {
  describe(`the overview of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: DAY_MS, historyShare: 50 })
    })
    afterAll(() => harness.close())

    it('has nothing without users', async () => {
      const measured = await measureUsers(harness.ledger, { limit: 2, top: 3 })
      const now = harness.now()
      expect(measured).toMatchObject({ totals: NOTHING, largest: [], fullest: [], pages: 1 })
      expect(Math.abs(measured.takenAt - now)).toBeLessThan(60_000)
    })

    it('sums and ranks all users that are not deleted, in pages of any size', async () => {
      const { a, b, c, d, e, f, g } = await openAccounts(harness)
      // By the share that is used: d and b 90 %, then g, c, a. By the bytes: c, then d and b, then a, g.
      await a.put('a', 30)
      await b.put('a', 90)
      await c.grant('more', 900)
      await c.put('a', 100)
      await c.put('b', 350)
      await d.put('a', 90)
      await e.begin('a', 7)
      await f.put('a', 100)
      await g.put('a', 60)
      await g.put('a', 50)
      await harness.users.setUserStatus(b.userId, 'suspended')
      await harness.users.deleteUser(f.userId)
      const changesOf = async (accounts: readonly Account[]) => {
        const counts = accounts.map(({ userId }) => harness.changeRows(userId))
        return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0)
      }
      const whole = await measureUsers(harness.ledger, { limit: 100, top: 3 })
      expect(whole).toMatchObject({
        totals: {
          active: 5,
          suspended: 1,
          deleted: 1,
          files: 6,
          used: 710,
          reserved: 7,
          garbage: 0,
          history: 60 + OBJECT_BYTES,
          versions: 1,
          undelivered: await changesOf([a, b, c, d, e, g]),
        },
        pages: 1,
      })
      const ids = (ranked: typeof whole.largest) => ranked.map(({ user }) => user.userId)
      expect(ids(whole.largest)).toEqual([c, b, d].map(({ userId }) => userId))
      expect(ids(whole.fullest)).toEqual([b, d, g].map(({ userId }) => userId))
      expect(whole.fullest[0]).toMatchObject({
        user: { status: 'suspended' },
        usage: { used: 90, capacity: BASE_CAPACITY, fileCount: 1 },
      })
      expect(whole.largest[0]).toMatchObject({ usage: { used: 450, capacity: 1000 } })
      for (const limit of [1, 2, 3, 7]) {
        const {
          takenAt: _at,
          pages,
          ...paged
        } = await measureUsers(harness.ledger, {
          limit,
          top: 3,
        })
        const { takenAt: _wholeAt, pages: _pages, ...expected } = whole
        expect(paged).toEqual(expected)
        // A full page may be the last one, which only the next shows.
        expect(pages).toBe(Math.floor(7 / limit) + 1)
      }
      const unranked = await measureUsers(harness.ledger, { limit: 2, top: 0 })
      expect(unranked).toMatchObject({ totals: whole.totals, largest: [], fullest: [] })
    })

    it('records a day once, lists the last days in order, and keeps them for a bounded time', async () => {
      const { ledger } = harness
      const { today, rows } = await ledger.listDailyUsage(30)
      expect(rows).toEqual([])
      expect(today % DAY_MS).toBe(0)
      expect(harness.now() - today).toBeLessThan(2 * DAY_MS)
      const record = (daysAgo: number, users: number) => {
        const usage = { day: today - daysAgo * DAY_MS, users, files: 2 * users, used: 2 ** 52 }
        return ledger.recordDailyUsage({ usage, keptDays: 40 })
      }
      for (const daysAgo of [45, 40, 30, 29, 1]) await record(daysAgo, daysAgo)
      await record(0, 5)
      await record(0, 6)
      const listed = (await ledger.listDailyUsage(30)).rows
      expect(listed).toEqual([
        { day: today - 29 * DAY_MS, users: 29, files: 58, used: 2 ** 52 },
        { day: today - DAY_MS, users: 1, files: 2, used: 2 ** 52 },
        { day: today, users: 5, files: 10, used: 2 ** 52 },
      ])
      expect((await ledger.listDailyUsage(1)).rows).toEqual(listed.slice(-1))
      const all = (await ledger.listDailyUsage(100)).rows
      expect(all.map(({ day }) => (today - day) / DAY_MS)).toEqual([40, 30, 29, 1, 0])
    })
  })
}

/** In the order of their ids. */
async function openAccounts(harness: LedgerHarness) {
  const accounts: Account[] = []
  for (let made = 0; made < 7; made += 1) accounts.push(await openAccount(harness))
  accounts.sort((one, other) => (one.userId < other.userId ? -1 : 1))
  const next = (): Account => {
    const account = accounts.shift()
    if (account === undefined) throw new Error('There are too few accounts.')
    return account
  }
  return { a: next(), b: next(), c: next(), d: next(), e: next(), f: next(), g: next() }
}
