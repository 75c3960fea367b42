import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LONGEST_LEASE_MS } from '../../../src/core/sweep/leader-lease.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import type { ObjectKey, Version } from '../../../src/core/objects/object-key.ts'
import {
  type AbortedUpload,
  type Garbage,
  RECHECK_MS,
  RETRY_MS,
} from '../../../src/core/sweep/sweep-ledger.ts'
import {
  type Account,
  accountOf,
  BASE_CAPACITY,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  type OpenHarness,
  outcomeOf,
} from './fixture.ts'

const SOON_MS = 600

/** How long the objects of purged users stay: longer than a purge takes on a busy machine. */
const PURGED_MS = 1_500

/** The rules of the port `Ledger` on users that stop and on what the sweeper takes up. */
export function ledgerSweepContract(name: string, open: OpenHarness): void {
  describe(`ledger and sweeper on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ times: { purgeDelayMs: PURGED_MS } })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    /** The account on an instance whose leases last so long. */
    const withLease = (leaseMs: number): Account =>
      account.through(harness.with({ times: { leaseMs } }).ledger)
    /** The account on an instance whose garbage waits so long. */
    const withDelay = (garbageDelayMs: number): Account =>
      account.through(harness.with({ times: { garbageDelayMs } }).ledger)
    const expired = async (): Promise<readonly Version[]> => {
      const uploads = await harness.ledger.listExpiredUploads({ limit: 1000 })
      return uploads.filter(({ userId }) => userId === account.userId).map(({ version }) => version)
    }
    const aborted = async (): Promise<readonly Version[]> => {
      return (await due()).map(({ version }) => version)
    }
    const keepingFor = (retentionMs: number): Ledger =>
      harness.with({ times: { retentionMs } }).ledger
    const due = async (retentionMs = LONG_MS): Promise<readonly AbortedUpload[]> => {
      const page = { after: undefined, limit: 1000 }
      return ours(await keepingFor(retentionMs).listAbortedUploads(page))
    }
    const ours = <T extends { readonly objectKey: ObjectKey }>(all: readonly T[]): readonly T[] =>
      all.filter(({ objectKey }) => objectKey.includes(account.userId))
    /** Says that the objects of all that are due were removed, and how many were forgotten for that. */
    const removeDue = async (retentionMs: number): Promise<number> => {
      const { userId } = account
      const removals = { userId, removed: await due(retentionMs), failed: [] }
      return await keepingFor(retentionMs).noteAbortedRemovals(removals)
    }
    const dueGarbage = async (): Promise<readonly Garbage[]> =>
      ours(await harness.ledger.listGarbage({ after: undefined, limit: 1000 }))
    const garbage = async (): Promise<readonly ObjectKey[]> => {
      return (await dueGarbage()).map(({ objectKey }) => objectKey)
    }
    const purgeSome = (): Promise<number> => harness.ledger.purgeDeletedUsers({ limit: 2 })
    const purge = async (): Promise<void> => {
      while ((await purgeSome()) > 0);
    }

    describe('leases', () => {
      it('G02 end at once of all that nobody works at any more, whose number counts no more', async () => {
        const [left, alive] = [await account.begin('a', 60), await account.begin('b', 10)]
        const done = await account.begin('c', 5)
        await account.commit(done, 5)
        expect(await harness.ledger.endLeases()).toBeGreaterThanOrEqual(2)
        expect(await harness.runningUploads(account.userId)).toBe(0)
        expect([...(await expired())].sort()).toEqual([left, alive].sort())
        expect(await account.usage()).toMatchObject({ used: 5, reserved: 70 })
        // An owner who lives all the same goes on, until the upload is aborted.
        await harness.ledger.renew({ version: alive })
        expect(await expired()).toEqual([left])
        const { userId } = account
        for (const version of [left, alive]) {
          await harness.ledger.abort({ userId, version, expiredOnly: true })
        }
        expect(await outcomeOf(account.commit(left, 60))).toBe('unavailable')
        expect(await outcomeOf(account.commit(alive, 10))).toBe('ok')
        expect(await account.usage()).toMatchObject({ used: 15, reserved: 0, fileCount: 2 })
        expect(await harness.ledger.endLeases()).toBe(0)
      })

      it('D12 end on their own: an upload without an owner is listed, then released once', async () => {
        const { userId } = account
        const leaseMs = 2 * SOON_MS
        const left = await withLease(leaseMs).begin('a', 70)
        const running = await account.begin('b', 10)
        expect(await expired()).toEqual([])
        const early = harness.ledger.abort({ userId, version: left, expiredOnly: true })
        expect(await early).toBeUndefined()
        await harness.advance(leaseMs + 20)
        expect(await expired()).toEqual([left])
        for (const version of [left, left]) {
          expect(await harness.ledger.abort({ userId, version, expiredOnly: true })).toBe('aborted')
        }
        const alive = harness.ledger.abort({ userId, version: running, expiredOnly: true })
        expect(await alive).toBeUndefined()
        expect(await expired()).toEqual([])
        expect(await account.usage()).toMatchObject({ used: 0, reserved: 10 })
        expect(await aborted()).toEqual([left])
      })

      it('are prolonged by renew and by extend', async () => {
        const brief = withLease(SOON_MS)
        const renewed = await brief.begin('a', 1)
        const extended = await brief.begin('b', 1)
        const left = await brief.begin('c', 1)
        await harness.ledger.renew({ version: renewed })
        await account.extend(extended, 1)
        await harness.advance(SOON_MS + 20)
        expect(await expired()).toEqual([left])
      })

      it('leases that have ended do not stop a commit that comes before the sweeper', async () => {
        const version = await withLease(0).begin('a', 10)
        await harness.advance(5)
        await account.commit(version, 10)
        expect(await expired()).toEqual([])
        expect(await account.size('a')).toBe(10)
      })
    })

    describe('journal', () => {
      it('keeps committed uploads for the retention, then forgets them, and no other', async () => {
        const committed = (await account.put('a', 1)).file.version
        const abandoned = await account.begin('b', 1)
        await account.abort(abandoned)
        const pending = await account.begin('c', 1)
        const forget = (retentionMs: number): Promise<number> =>
          keepingFor(retentionMs).forgetUploads({ limit: 1000 })
        await forget(60_000)
        expect(await harness.journal(account.userId)).toEqual(
          [committed, abandoned, pending].toSorted(),
        )
        await harness.advance(20)
        expect(await forget(10)).toBeGreaterThan(0)
        expect(await harness.journal(account.userId)).toEqual([abandoned, pending].toSorted())
        expect(await account.abort(committed)).toBe('committed')
        expect(await account.abort(abandoned)).toBe('aborted')
        expect(await account.size('a')).toBe(1)
        await account.commit(pending, 1)
      })

      it('has an aborted upload due at once, and after a removal when it is as old again', async () => {
        const abandoned = await account.begin('a', 1)
        const abortedAt = harness.now()
        await account.abort(abandoned)
        expect(await aborted()).toEqual([abandoned])
        await removeDue(LONG_MS)
        expect(await aborted()).toEqual([])
        await harness.advance(2 * RECHECK_MS)
        expect(await aborted()).toEqual([abandoned])
        const min = harness.now() - abortedAt
        expect(await removeDue(LONG_MS)).toBe(0)
        const age = harness.now() - abortedAt
        expect(await aborted()).toEqual([])
        await harness.advance(age + 20)
        const [again] = await due()
        expect(again?.version).toBe(abandoned)
        // The abort itself came a little after it was asked for.
        expect((again?.removeAt ?? 0) - abortedAt).toBeGreaterThan(1.7 * min)
      })

      it('has an aborted upload due right after the retention, when that comes sooner', async () => {
        const retentionMs = 10 * RECHECK_MS
        const abandoned = await account.begin('a', 1)
        await account.abort(abandoned)
        await harness.advance(8 * RECHECK_MS)
        expect(await removeDue(retentionMs)).toBe(0)
        await harness.advance(2 * RECHECK_MS + 20)
        expect(await due(retentionMs)).toMatchObject([{ version: abandoned, isLast: true }])
      })

      it('forgets an aborted upload by a removal that began after the retention, and by no other', async () => {
        const retentionMs = SOON_MS
        const abandoned = await account.begin('a', 1)
        await account.abort(abandoned)
        const early = await due(retentionMs)
        await harness.advance(retentionMs + 20)
        const { userId } = account
        const late = { userId, removed: early, failed: [] }
        expect(await keepingFor(retentionMs).noteAbortedRemovals(late)).toBe(0)
        expect(await harness.journal(account.userId)).toEqual([abandoned])
        await harness.advance(RECHECK_MS + 20)
        expect(await removeDue(retentionMs)).toBe(1)
        expect(await harness.journal(account.userId)).toEqual([])
        expect(await account.abort(abandoned)).toBe('aborted')
      })

      it('keeps an aborted upload whose removal failed, and has it due again soon', async () => {
        const abandoned = await account.begin('a', 1)
        await account.abort(abandoned)
        await harness.advance(20)
        const failed = await due(0)
        expect(failed).toMatchObject([{ isLast: true }])
        const { userId } = account
        const removals = { userId, removed: [], failed }
        expect(await keepingFor(0).noteAbortedRemovals(removals)).toBe(0)
        expect(await aborted()).toEqual([])
        await harness.advance(RETRY_MS + 20)
        expect(await aborted()).toEqual([abandoned])
      })

      it('forgets and delays no upload that is not aborted, whatever it is told was removed', async () => {
        const committed = (await account.put('a', 1)).file
        const pending = await account.begin('b', 5)
        const told = { ...committed, removeAt: 0, isLast: true }
        const removals = { removed: [told, { ...told, version: pending }], failed: [told] }
        const { userId } = account
        expect(await keepingFor(LONG_MS).noteAbortedRemovals({ ...removals, userId })).toBe(0)
        const kept = [committed.version, pending].toSorted()
        expect(await harness.journal(account.userId)).toEqual(kept)
        expect(await account.usage()).toMatchObject({ used: 1, reserved: 5 })
      })

      it('lists aborted uploads in pages, in the order in which they are due', async () => {
        const versions: Version[] = []
        for (const name of ['a', 'b', 'c', 'd']) versions.push(await account.begin(name, 1))
        const [a, b, c, d] = versions as [Version, Version, Version, Version]
        for (const version of [d, a, c, b]) {
          await account.abort(version)
          await harness.advance(2)
        }
        expect(await aborted()).toEqual([d, a, c, b])
        const after = (await due()).at(0)
        const page = { after, limit: 1000 }
        const rest = ours(await harness.ledger.listAbortedUploads(page))
        expect(rest.map(({ version }) => version)).toEqual([a, c, b])
        expect(await harness.ledger.listAbortedUploads({ ...page, limit: 1 })).toHaveLength(1)
      })
    })

    describe('garbage', () => {
      it('holds a replaced object, and shows it no sooner than it was told', async () => {
        const { file } = await account.put('a', 1)
        await withDelay(SOON_MS).put('a', 2)
        expect(await garbage()).toEqual([])
        await harness.advance(SOON_MS + 20)
        expect(await garbage()).toEqual([file.objectKey])
        const removals = { userId: account.userId, failed: [] }
        await harness.ledger.noteGarbageRemovals({ ...removals, removed: await dueGarbage() })
        await harness.ledger.noteGarbageRemovals({ ...removals, removed: [] })
        expect(await garbage()).toEqual([])
        expect(await account.size('a')).toBe(2)
      })

      it('is listed in pages in the order in which it is due, and by key', async () => {
        for (const size of [1, 2, 3, 4]) await withDelay(0).put('a', size)
        await harness.advance(2)
        const listed = await dueGarbage()
        expect(listed).toHaveLength(3)
        const place = ({ notBefore, objectKey }: Garbage): string => `${notBefore} ${objectKey}`
        expect(listed.map(place)).toEqual(listed.map(place).toSorted())
        const rest = await harness.ledger.listGarbage({ after: listed[0], limit: 1000 })
        expect(ours(rest)).toEqual(listed.slice(1))
        expect(await harness.ledger.listGarbage({ after: listed[0], limit: 1 })).toHaveLength(1)
      })

      it('garbage that could not be removed loses its place', async () => {
        for (const size of [1, 2, 3]) await withDelay(0).put('a', size)
        await harness.advance(2)
        const [first, second] = await dueGarbage()
        if (first === undefined || second === undefined) throw new Error('There is none.')
        const removals = { removed: [], failed: [first] }
        await harness.ledger.noteGarbageRemovals({ ...removals, userId: account.userId })
        expect(await garbage()).toEqual([second.objectKey])
        await harness.advance(RETRY_MS + 20)
        expect(await garbage()).toEqual([second.objectKey, first.objectKey])
      })
    })

    describe('leader leases', () => {
      it('have one holder at a time, until it releases the lease', async () => {
        const { ledger, other } = harness
        const [mine, theirs] = [claimOf('mine'), claimOf('theirs')]
        const both = await Promise.all([
          ledger.acquireLeaderLease(mine),
          other.acquireLeaderLease(theirs),
        ])
        expect(both.filter(Boolean)).toHaveLength(1)
        const [had, missed] = both[0] ? [mine, theirs] : [theirs, mine]
        expect(await ledger.acquireLeaderLease(had)).toBe(true)
        await ledger.releaseLeaderLease(missed)
        expect(await other.acquireLeaderLease(missed)).toBe(false)
        await ledger.releaseLeaderLease(had)
        expect(await other.acquireLeaderLease(missed)).toBe(true)
        expect(await ledger.acquireLeaderLease(had)).toBe(false)
        await ledger.releaseLeaderLease(missed)
      })

      it('are free again when the lease of a dead holder has ended', async () => {
        const { ledger, other } = harness
        const [mine, theirs] = [claimOf('mine', SOON_MS), claimOf('theirs')]
        expect(await ledger.acquireLeaderLease(mine)).toBe(true)
        expect(await other.acquireLeaderLease(theirs)).toBe(false)
        await harness.advance(SOON_MS + 20)
        expect(await other.acquireLeaderLease(theirs)).toBe(true)
        expect(await ledger.acquireLeaderLease(mine)).toBe(false)
        await other.releaseLeaderLease(theirs)
      })
    })

    describe('the backlog', () => {
      it('counts what is due, up to a cap, and says how long the oldest has waited', async () => {
        const before = await harness.ledger.measureBacklog(1000)
        await withLease(0).begin('a', 1)
        await account.begin('b', 1)
        for (const name of ['c', 'd', 'e']) await account.abort(await account.begin(name, 1))
        for (const size of [1, 2, 3, 4, 5]) await withDelay(0).put('f', size)
        await account.put('f', 6)
        await harness.advance(20)
        const { expiredUploads, abortedUploads, garbage } =
          await harness.ledger.measureBacklog(1000)
        expect(expiredUploads.count).toBe(before.expiredUploads.count + 1)
        expect(abortedUploads.count).toBe(before.abortedUploads.count + 3)
        expect(garbage.count).toBe(before.garbage.count + 4)
        for (const { oldestMs } of [expiredUploads, abortedUploads, garbage]) {
          expect(oldestMs).toBeGreaterThanOrEqual(20)
          expect(oldestMs).toBeLessThan(LONG_MS)
        }
        expect((await harness.ledger.measureBacklog(2)).garbage.count).toBe(2)
      })
    })

    describe('the journal', () => {
      it('counts uploads under way with what they reserve, and all garbage, up to a cap', async () => {
        const before = await harness.ledger.measureJournal(1000)
        await account.put('f', 10)
        await account.put('f', 5)
        await withDelay(0).put('f', 5)
        await account.begin('a', 30)
        await account.abort(await account.begin('b', 7))
        const lapsed = await withLease(0).begin('c', 12)
        const after = await harness.ledger.measureJournal(1000)
        expect(after).toEqual({
          ...before,
          reservations: before.reservations + 2,
          reservedBytes: before.reservedBytes + 42,
          garbage: before.garbage + 2,
        })
        expect(await harness.ledger.measureJournal(1)).toMatchObject({
          reservations: 1,
          garbage: 1,
        })
        await account.abort(lapsed)
        expect(await harness.ledger.measureJournal(1000)).toEqual({
          ...before,
          reservations: before.reservations + 1,
          reservedBytes: before.reservedBytes + 30,
          garbage: before.garbage + 2,
        })
      })
    })

    describe('suspended users', () => {
      it('upload nothing and their files are found by no one, until they are active again', async () => {
        await account.put('a', 10)
        const pending = await account.begin('b', 10)
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcomeOf(account.begin('c', 0))).toBe('user_suspended')
        const full = account.through(harness.with({ limits: { maxFiles: 0 } }).ledger)
        expect(await outcomeOf(full.begin('c', 9_999))).toBe('user_suspended')
        expect(await outcomeOf(account.commit(pending, 10))).toBe('user_suspended')
        expect(await account.size('a')).toBeUndefined()
        expect(await account.usage()).toMatchObject({ used: 10, reserved: 10 })
        await harness.users.setUserStatus(account.userId, 'active')
        await account.commit(pending, 10)
        expect(await account.size('a')).toBe(10)
      })
    })

    describe('deleted users', () => {
      it('have no figures, no files, and no upload that could end well', async () => {
        await account.put('a', 10)
        const pending = await account.begin('b', 10)
        await harness.users.deleteUser(account.userId)
        expect(await account.usage()).toBeUndefined()
        expect(await account.size('a')).toBeUndefined()
        expect(await outcomeOf(account.begin('c', 0))).toBe('access_token_invalid')
        expect(await outcomeOf(account.commit(pending, 10))).toBe('access_token_invalid')
        await purge()
        expect(await outcomeOf(account.commit(pending, 10))).toBe('access_token_invalid')
      })

      it('are refused like those who never were', async () => {
        await harness.users.deleteUser(account.userId)
        await purge()
        expect(await harness.users.findUser(account.userId)).toBeUndefined()
        expect(await outcomeOf(account.begin('a', 0))).toBe('access_token_invalid')
        expect(await account.usage()).toBeUndefined()
      })

      it('are purged file by file into garbage, and forgotten only when no object is left to remove', async () => {
        const keys: ObjectKey[] = []
        for (const name of ['a', 'b', 'c', 'd', 'e']) {
          keys.push((await account.put(name, 10)).file.objectKey)
        }
        const pending = await account.begin('f', 10)
        await harness.users.deleteUser(account.userId)
        expect(await purgeSome()).toBeGreaterThan(0)
        await purge()
        expect(await harness.audit(account.userId)).toEqual({ used: 0, reserved: 0, fileCount: 0 })
        expect(await garbage()).toEqual([])
        await harness.advance(PURGED_MS + 20)
        expect([...(await garbage())].sort()).toEqual(keys.sort())
        expect(await aborted()).toEqual([pending])
        expect(await harness.users.findUser(account.userId)).toMatchObject({ status: 'deleted' })
        expect(await outcomeOf(harness.users.createUser(account.userId))).toBe('user_exists')

        await harness.advance(5)
        expect(await removeDue(0)).toBe(1)
        await purge()
        expect(await harness.users.findUser(account.userId)).toBeUndefined()
        expect([...(await garbage())].sort()).toEqual(keys)
      })

      it('come back empty under the same id', async () => {
        await account.put('a', 10)
        await account.grant('gift', 5)
        await harness.users.deleteUser(account.userId)
        await purge()
        const { user, created } = await harness.users.createUser(account.userId)
        expect(created).toBe(true)
        account = accountOf({ ...harness, ...callerOf(user) })
        expect(await account.usage()).toEqual({
          capacity: BASE_CAPACITY,
          used: 0,
          reserved: 0,
          fileCount: 0,
        })
        expect(await account.size('a')).toBeUndefined()
        await purge()
        await account.put('a', 1)
      })
    })
  })
}

function claimOf(
  holder: string,
  leaseMs = LONGEST_LEASE_MS,
): Parameters<Ledger['acquireLeaderLease']>[0] {
  return { name: 'sweep', holder, leaseMs }
}
