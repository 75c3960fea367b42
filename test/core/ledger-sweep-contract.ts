import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../src/core/object-key.ts'
import type { Version } from '../../src/core/version.ts'
import {
  type Account,
  BASE_CAPACITY,
  type LedgerHarness,
  openAccount,
  outcomeOf,
} from './ledger-fixture.ts'

const SOON_MS = 150

/** The rules of the port `Ledger` on users that stop and on what the sweeper takes up. */
export function ledgerSweepContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`ledger and sweeper on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const expired = async (): Promise<readonly Version[]> => {
      const uploads = await harness.ledger.listExpiredUploads(1000)
      return uploads.filter(({ userId }) => userId === account.userId).map(({ version }) => version)
    }
    const aborted = async (): Promise<readonly Version[]> => {
      const uploads = await harness.ledger.listAbortedUploads({ after: undefined, limit: 1000 })
      return uploads
        .filter(({ objectKey }) => objectKey.includes(account.userId))
        .map(({ version }) => version)
    }
    const garbage = async (): Promise<readonly ObjectKey[]> => {
      const keys = await harness.ledger.listGarbage({ after: undefined, limit: 1000 })
      return keys.filter((key) => key.includes(account.userId))
    }
    const purgeSome = (): Promise<number> =>
      harness.ledger.purgeDeletedUsers({ limit: 2, garbageDelayMs: SOON_MS })
    const purge = async (): Promise<void> => {
      while ((await purgeSome()) > 0);
    }

    describe('leases', () => {
      it('D12 end on their own: an upload without an owner is listed, then released once', async () => {
        const { userId } = account
        const left = await account.begin('a', 70, { leaseMs: SOON_MS })
        const running = await account.begin('b', 10)
        expect(await expired()).toEqual([])
        const early = harness.ledger.abort({ userId, version: left, expiredOnly: true })
        expect(await early).toBeUndefined()
        await harness.advance(SOON_MS + 20)
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
        const renewed = await account.begin('a', 1, { leaseMs: SOON_MS })
        const extended = await account.begin('b', 1, { leaseMs: SOON_MS })
        const left = await account.begin('c', 1, { leaseMs: SOON_MS })
        await harness.ledger.renew({ version: renewed, leaseMs: 60_000 })
        await account.extend(extended, 1)
        await harness.advance(SOON_MS + 20)
        expect(await expired()).toEqual([left])
      })

      it('that have ended do not stop a commit that comes before the sweeper', async () => {
        const version = await account.begin('a', 10, { leaseMs: 0 })
        await harness.advance(5)
        await account.commit(version, 10)
        expect(await expired()).toEqual([])
        expect(await account.size('a')).toBe(10)
      })
    })

    describe('journal', () => {
      it('keeps settled uploads for the retention, then forgets them, never a pending one', async () => {
        const committed = (await account.put('a', 1)).file.version
        const dropped = await account.begin('b', 1)
        await account.abort(dropped)
        const pending = await account.begin('c', 1)
        await harness.ledger.forgetUploads({ which: 'settled', retentionMs: 60_000, limit: 1000 })
        expect(await aborted()).toEqual([dropped])
        await harness.advance(20)
        await harness.ledger.forgetUploads({ which: 'committed', retentionMs: 10, limit: 1000 })
        expect(await aborted()).toEqual([dropped])
        await harness.ledger.forgetUploads({ which: 'settled', retentionMs: 10, limit: 1000 })
        expect(await aborted()).toEqual([])
        expect(await account.abort(committed)).toBe('committed')
        expect(await account.abort(dropped)).toBe('aborted')
        expect(await account.size('a')).toBe(1)
        await account.commit(pending, 1)
      })

      it('lists aborted uploads in pages, in the order of their versions', async () => {
        const versions: Version[] = []
        for (const name of ['a', 'b', 'c']) {
          const version = await account.begin(name, 1)
          await account.abort(version)
          versions.push(version)
        }
        const [first, ...others] = versions.sort()
        const after = await harness.ledger.listAbortedUploads({ after: first, limit: 1000 })
        const ours = after.filter(({ objectKey }) => objectKey.includes(account.userId))
        expect(ours.map(({ version }) => version)).toEqual(others)
        const page = await harness.ledger.listAbortedUploads({ after: undefined, limit: 1 })
        expect(page).toHaveLength(1)
      })
    })

    describe('garbage', () => {
      it('holds a replaced object, and shows it no sooner than it was told', async () => {
        const { file } = await account.put('a', 1)
        await account.put('a', 2, { garbageDelayMs: SOON_MS })
        expect(await garbage()).toEqual([])
        await harness.advance(SOON_MS + 20)
        expect(await garbage()).toEqual([file.objectKey])
        await harness.ledger.forgetGarbage(await garbage())
        await harness.ledger.forgetGarbage([])
        expect(await garbage()).toEqual([])
        expect(await account.size('a')).toBe(2)
      })

      it('is listed in pages in the order of its keys', async () => {
        for (const size of [1, 2, 3, 4]) await account.put('a', size, { garbageDelayMs: 0 })
        await harness.advance(2)
        const keys = await garbage()
        expect(keys).toHaveLength(3)
        expect(keys).toEqual([...keys].sort())
        const rest = await harness.ledger.listGarbage({ after: keys[0], limit: 1000 })
        expect(rest.filter((key) => key.includes(account.userId))).toEqual(keys.slice(1))
        expect(await harness.ledger.listGarbage({ after: keys[0], limit: 1 })).toHaveLength(1)
      })
    })

    describe('suspended users', () => {
      it('upload nothing and their files are found by no one, until they are active again', async () => {
        await account.put('a', 10)
        const pending = await account.begin('b', 10)
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcomeOf(account.begin('c', 0))).toBe('user_suspended')
        expect(await outcomeOf(account.begin('c', 9_999, { maxFiles: 0 }))).toBe('user_suspended')
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
        await harness.advance(SOON_MS + 20)
        expect([...(await garbage())].sort()).toEqual(keys.sort())
        expect(await aborted()).toEqual([pending])
        expect(await harness.users.findUser(account.userId)).toMatchObject({ status: 'deleted' })
        expect(await outcomeOf(harness.users.createUser(account.userId))).toBe('user_exists')

        await harness.advance(5)
        await harness.ledger.forgetUploads({ which: 'settled', retentionMs: 0, limit: 1000 })
        await purge()
        expect(await harness.users.findUser(account.userId)).toBeUndefined()
        expect([...(await garbage())].sort()).toEqual(keys)
      })

      it('come back empty under the same id', async () => {
        await account.put('a', 10)
        await account.grant('gift', 5)
        await harness.users.deleteUser(account.userId)
        await purge()
        expect((await harness.users.createUser(account.userId)).created).toBe(true)
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
