import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSafeClock, type SafeClock } from '../../../src/core/clock/safe-clock.ts'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import {
  type Account,
  grantOf,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
} from './fixture.ts'
import { resumablesOf, tailPiece } from './resumable/fixture.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * LONG_MS
const LEASE_MS = MINUTE_MS
const KEPT_MS = 30 * DAY_MS
const GARBAGE_MS = 10 * MINUTE_MS
const RETENTION_MS = 15 * MINUTE_MS
const AHEAD = [
  ['40 days', 40 * DAY_MS],
  ['ten years', 3_650 * DAY_MS],
] as const

const cam = parseFileNamePrefix('cam-')

/** I17: what ends by a clock that jumps is neither destroyed early nor kept waiting. */
export function ledgerClockContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`a clock that jumps under the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let clock: SafeClock
    let steady: number
    let jumps: number[]

    beforeEach(async () => {
      const times = { leaseMs: LEASE_MS, garbageDelayMs: GARBAGE_MS, purgeDelayMs: GARBAGE_MS }
      const history = { historyLifetimeMs: KEPT_MS, historyShare: 50 }
      harness = await open({ ...history, baseCapacity: 100_000, times })
      account = await openAccount(harness)
      steady = 0
      jumps = []
      clock = createSafeClock({
        ledger: harness.ledger,
        steady: { boot: 'boot', now: () => steady },
        leaseMs: LEASE_MS,
        hooks: { onJump: (ms) => void jumps.push(ms) },
      })
      await clock.read()
      await clock.advance()
    })
    afterEach(() => harness.close())

    /** Lets time pass, with a reading at the end, as a sweep has one. */
    const pass = async (ms: number): Promise<void> => {
      steady += ms
      await harness.advance(ms)
      await clock.advance()
    }
    const jump = async (ms: number): Promise<void> => {
      await harness.advance(ms)
      await pass(SECOND_MS)
    }
    const trim = async (): Promise<number> => {
      const { userId } = account
      return await harness.ledger.trimHistory({ userId, limit: 10 })
    }
    const expire = async (): Promise<number> => {
      const { userId } = account
      return await harness.ledger.expireFiles({ userId, limit: 10 })
    }
    const garbage = async (): Promise<number> =>
      (await harness.ledger.listGarbage({ after: undefined, limit: 1000 })).length
    const expired = async () =>
      (await harness.ledger.listExpiredUploads({ limit: 100 })).map(({ version }) => version)
    const contents = async (file: string): Promise<readonly number[]> =>
      (await account.past({ name: file })).map(({ size }) => size)
    const NOBODY = { except: [], limit: 10 }

    describe.each(AHEAD)('%s ahead', (_name, ahead) => {
      it('G10 purges no history, which can be restored afterwards', async () => {
        await account.put('a', 10)
        const version = await account.remove('a')
        await jump(ahead)
        expect(await harness.ledger.listUsersToTrim(NOBODY)).toEqual([])
        expect(await trim()).toBe(0)
        await jump(-ahead)
        await account.restore(version)
        expect(await account.size('a')).toBe(10)
      })

      it('hides a file that expires, and ends none', async () => {
        await account.put('a', 10, { expiresInMs: KEPT_MS })
        await jump(ahead)
        expect(await account.size('a')).toBeUndefined()
        expect(await harness.ledger.listUsersWithExpired(NOBODY)).toEqual([])
        expect(await expire()).toBe(0)
        await jump(-ahead)
        expect(await account.size('a')).toBe(10)
      })

      it('keeps the content of such a file if its name is used again', async () => {
        await account.put('a', 10, { expiresInMs: KEPT_MS })
        await account.put('b', 20, { expiresInMs: KEPT_MS })
        await account.put('c', 30)
        await jump(ahead)
        await account.put('a', 11)
        await account.change('c', { newName: 'b' })
        expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
        await jump(-ahead)
        expect(await contents('a')).toEqual([10])
        expect(await contents('b')).toEqual([20])
        const { bytes, countedBytes, versions } = await harness.history(account.userId)
        expect([bytes, versions]).toEqual([countedBytes, 2])
      })

      it('evicts in the order of the files, not one that expires first', async () => {
        await account.put('cam-1', 40_000)
        await pass(SECOND_MS)
        await account.put('cam-2', 40_000, { expiresInMs: KEPT_MS })
        await jump(ahead)
        const version = await account.begin('cam-3', 40_000, { evict: cam })
        await account.commit(version, 40_000, { evict: cam })
        await jump(-ahead)
        expect((await account.list()).map((file) => file.name)).toEqual(['cam-2', 'cam-3'])
      })

      it('evicts and purges nothing for a grant that ends', async () => {
        const endsAt = harness.now() + KEPT_MS
        const gift = { ...grantOf(account.userId, 'gift'), bytes: 1_000_000, endsAt }
        await harness.users.putGrant(gift)
        for (const each of ['cam-1', 'cam-2', 'cam-3']) await account.put(each, 100_000)
        for (const size of [100_000, 100_001]) await account.put('old', size)
        await account.remove('old')
        const kept = (await account.past()).length
        await jump(ahead)
        await account.change('cam-1', { visibility: 'public' })
        const refused = account.begin('cam-4', 50_000, { evict: cam })
        expect(
          await outcomeOf(refused.then((each) => account.commit(each, 50_000, { evict: cam }))),
        ).toBe('capacity_exceeded')
        for (const userId of await harness.ledger.listUsersToTrim(NOBODY)) {
          await harness.ledger.trimHistory({ userId, limit: 10 })
        }
        expect(await harness.ledger.listUsersToTrim(NOBODY)).toEqual([])
        await jump(-ahead)
        expect(await account.list()).toHaveLength(3)
        expect(await account.past()).toHaveLength(kept)
      })

      it('removes no garbage, and what becomes garbage meanwhile waits no longer than usual', async () => {
        await account.put('a', 10, { expiresInMs: MINUTE_MS })
        await pass(2 * MINUTE_MS)
        expect(await expire()).toBe(1)
        await jump(ahead)
        expect(await garbage()).toBe(0)
        await account.put('b', 10)
        const { version } = (await account.put('b', 11)).file
        expect(version).toBeDefined()
        const { userId } = account
        await harness.ledger.purgeHistory({
          ...account,
          endedBy: Number.MAX_SAFE_INTEGER,
          limit: 10,
        })
        await jump(-ahead)
        expect(await garbage()).toBe(0)
        await pass(RETENTION_MS)
        expect((await harness.keys(userId)).garbage).toHaveLength(2)
        expect(await garbage()).toBe(2)
      })

      it('forgets no change, parked event, action, day, settled upload, token or link', async () => {
        const { ledger, users } = harness
        const { userId } = account
        await account.put('a', 10)
        const action = {
          actionId: createVersion(),
          action: 'user.create',
          userId,
          details: {},
        } as const
        const origin = { operator: undefined, address: undefined, requestId: undefined }
        await ledger.recordOperatorAction({ ...action, ...origin })
        const day = harness.now() - (harness.now() % DAY_MS)
        const usage = { users: 1, files: 1, used: 1 }
        await ledger.recordDailyUsage({ usage: { ...usage, day }, keptDays: 10 })
        const digests = Array.from({ length: 102 }, () =>
          randomUUID().replaceAll('-', '').repeat(2),
        )
        const token = { userId, label: '', scope: undefined, parent: undefined }
        for (const sha256 of digests) {
          await users.addAccessToken({
            ...token,
            sha256,
            tokenId: randomUUID(),
            expiresInMs: KEPT_MS,
          })
        }
        await jump(ahead)
        expect(await ledger.forgetUploads({ limit: 10 })).toBe(0)
        expect(await ledger.forgetChanges({ lifetimeMs: KEPT_MS, limit: 10 })).toMatchObject({
          forgotten: 0,
        })
        const bounds = { lifetimeMs: KEPT_MS, most: 10, limit: 10 }
        expect(await ledger.forgetOperatorActions(bounds)).toBe(0)
        await ledger.recordDailyUsage({ usage: { ...usage, day: day + ahead }, keptDays: 10 })
        const [sha256 = ''] = digests
        const another = { sha256: '0'.repeat(64), tokenId: randomUUID(), expiresInMs: KEPT_MS }
        await users.addAccessToken({ ...token, ...another })
        expect(await users.findAccessTokenUser(sha256)).toBeUndefined()
        await jump(-ahead)
        for (const each of digests) expect(await users.findAccessTokenUser(each)).toBeDefined()
        expect((await ledger.listDailyUsage(1)).rows).toHaveLength(1)
      })

      it('keeps a resumable upload, which goes on meanwhile and afterwards', async () => {
        const resumables = resumablesOf(harness.ledger, account)
        const upload = await resumables.create('a', 100)
        await resumables.append(upload, 8)
        await jump(ahead)
        expect(await expired()).toEqual([])
        expect(await harness.ledger.abort({ ...upload, expiredOnly: true })).toBeUndefined()
        expect(await resumables.find(upload)).toMatchObject({ state: 'open', offset: 8 })
        await resumables.append(await resumables.find(upload), 16)
        await jump(-ahead)
        await resumables.append(await resumables.find(upload), 24)
        expect(await resumables.find(upload)).toMatchObject({ state: 'open', offset: 24 })
      })

      it('lets the request of another upload renew its lease first', async () => {
        const version = await account.begin('a', 10)
        await harness.advance(ahead)
        expect(await clock.read()).toBe(true)
        await harness.ledger.renew({ version })
        await clock.advance()
        await pass(LEASE_MS + SECOND_MS)
        expect(await clock.read()).toBe(false)
        expect(await expired()).toEqual([version])
      })

      it('is noticed once, and so is its end', async () => {
        await jump(ahead)
        await pass(MINUTE_MS)
        await jump(-ahead)
        await pass(MINUTE_MS)
        expect(jumps).toEqual([ahead, -ahead])
      })

      it('leaves no upload, holder, removal, lease or webhook that waits for it', async () => {
        const { ledger } = harness
        await jump(ahead)
        const lost = await account.begin('lost', 10)
        const cancelled = await account.begin('cancelled', 10)
        await account.abort(cancelled)
        const settled = await account.put('event', 1)
        const resumables = resumablesOf(ledger, account)
        const upload = await resumables.create('resumed', 100, { maxLifetimeMs: DAY_MS })
        await resumables.hold(upload)
        const lease = { name: 'sweep', leaseMs: LEASE_MS } as const
        expect(await ledger.acquireLeaderLease({ ...lease, holder: 'theirs' })).toBe(true)
        await jump(-ahead)
        expect(await ledger.acquireLeaderLease({ ...lease, holder: 'mine' })).toBe(true)
        expect(await ledger.listDueWebhooks(10)).toHaveLength(1)
        const page = { after: undefined, limit: 10 }
        expect(await ledger.listAbortedUploads(page)).toMatchObject([{ version: cancelled }])
        await pass(LEASE_MS + SECOND_MS)
        expect(await expired()).toEqual([lost])
        expect((await resumables.find(upload)).isHeld).toBe(false)
        await pass(RETENTION_MS)
        expect(await ledger.forgetUploads({ limit: 10 })).toBe(1)
        expect(settled.replaced).toBe(false)
        await pass(DAY_MS)
        expect(await expired()).toContain(upload.version)
      })
    })

    it('a clock that has not jumped keeps the wait that a receiver asked for, also over a restart', async () => {
      const failing = async () => {
        await account.put('a', 10)
        const [queue] = await harness.ledger.listDueWebhooks(1)
        if (queue === undefined) throw new Error('No event is due.')
        const failure = { attempts: 1, delayMs: 2 * LONG_MS }
        const none = { delivered: 0, isPurgeDone: false, parked: undefined }
        await harness.ledger.settleWebhooks({ queue, failure, ...none })
      }
      const due = async () => (await harness.ledger.listDueWebhooks(1)).length
      await failing()
      await pass(LONG_MS)
      const restarted = createSafeClock({
        ledger: harness.ledger,
        steady: { boot: 'boot', now: () => steady },
        leaseMs: LEASE_MS,
      })
      await restarted.advance()
      expect(await due()).toBe(0)
      await pass(LONG_MS)
      expect(await due()).toBe(1)
      await failing()
      await jump(-LONG_MS)
      expect(await due()).toBe(1)
    })

    it('a clock that went back destroys nothing sooner, also when it is right again', async () => {
      await account.put('a', 10, { expiresInMs: 3 * LONG_MS })
      await jump(-2 * LONG_MS)
      await account.put('b', 10, { expiresInMs: 3 * LONG_MS })
      await jump(2 * LONG_MS)
      await pass(LONG_MS)
      expect(await expire()).toBe(0)
      await pass(2 * LONG_MS)
      expect(await expire()).toBe(2)
    })

    it('a clock that was behind until just before a sweep cuts no delay of a removal short', async () => {
      const { ledger, users } = harness
      const { userId } = account
      const resumables = resumablesOf(ledger, account)
      const tailed = await resumables.create('tailed', 100)
      const key = resumables.tailKey()
      const { upload } = await resumables.hold(tailed, { tailKey: key })
      await resumables.record(upload, { offset: 4, pieces: [tailPiece(0, { size: 4, key })] })
      await account.put('gone', 10)
      const version = await account.remove('gone')
      await account.put('kept', 20)
      const aborted = await account.begin('aborted', 10)
      await account.begin('purged', 10)
      await harness.advance(-2 * DAY_MS)
      await account.abort(aborted)
      await resumables.abort(tailed)
      await ledger.purgeVersion({ ...account, version })
      await account.put('kept', 20)
      await users.deleteUser(userId)
      const purge = { userId, limit: 10 }
      while ((await ledger.purgeDeletedUsers(purge)) > 0);
      await harness.advance(2 * DAY_MS)
      await pass(GARBAGE_MS - SECOND_MS)
      const page = { after: undefined, limit: 10 }
      const left = await ledger.listAbortedUploads(page)
      expect(left.map(({ isLast }) => isLast)).toEqual([false, false, false])
      expect(await garbage()).toBe(0)
      await pass(RETENTION_MS)
      expect(await garbage()).toBe(4)
    })

    it('is believed at once if an operator vouches for it', async () => {
      await account.put('a', 10, { expiresInMs: KEPT_MS })
      await jump(40 * DAY_MS)
      await clock.advance({ isTrusted: true })
      expect(await expire()).toBe(1)
    })

    it('a clock that does not jump destroys what has ended', async () => {
      await account.put('a', 10)
      await account.remove('a')
      await account.put('b', 10, { expiresInMs: KEPT_MS })
      // Several commits of a millisecond have later dates.
      await pass(KEPT_MS + SECOND_MS)
      expect(await trim()).toBe(1)
      expect(await expire()).toBe(1)
      await pass(GARBAGE_MS + RETENTION_MS)
      expect(await garbage()).toBe(2)
    })
  })
}
