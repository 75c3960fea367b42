import { NEVER } from '../../../src/core/files/file.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  BASE_CAPACITY,
  digestOf,
  grantOf,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  refusalOf,
} from './fixture.ts'

/** The rules of the port `Ledger`, one upload at a time. */
export function ledgerContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }

    describe('uploads under way', () => {
      let limited: Account
      beforeEach(() => {
        limited = account.through(harness.with({ limits: { maxUploads: 2 } }).ledger)
      })
      const outcome = (name: string) => outcomeOf(limited.begin(name, 0))
      const running = () => harness.runningUploads(account.userId)

      it('H12 are no more than a user may have, overwrites and empty files among them', async () => {
        await account.put('a', 5)
        await limited.begin('a', 5)
        await limited.begin('b', 0)
        expect(await running()).toBe(2)
        const refusal = await refusalOf(limited.begin('a', 30))
        expect(refusal).toMatchObject({ code: 'too_many_requests', facts: { retry_after: 5 } })
        expect(await outcome('c')).toBe('too_many_requests')
        expect(await account.usage()).toMatchObject({ used: 5, reserved: 0, fileCount: 1 })
        expect(await running()).toBe(2)
        await sums()
      })

      it('H12 make room when they are committed, aborted or lose their lease', async () => {
        const committed = await limited.begin('a', 0)
        const aborted = await limited.begin('b', 0)
        expect(await outcome('c')).toBe('too_many_requests')
        await account.commit(committed, 0)
        expect(await outcome('c')).toBe('ok')
        await account.abort(aborted)
        const { ledger } = harness.with({ limits: { maxUploads: 2 }, times: { leaseMs: 1000 } })
        await account.through(ledger).begin('d', 0)
        expect(await outcome('e')).toBe('too_many_requests')
        await harness.advance(1001)
        expect(await running()).toBe(1)
        expect(await outcome('e')).toBe('ok')
        expect(await outcome('f')).toBe('too_many_requests')
      })

      it('are counted after the precondition is met and before the files and the bytes', async () => {
        for (const name of ['a', 'b']) await limited.begin(name, 0)
        const full = account.through(
          harness.with({ limits: { maxUploads: 2, maxFiles: 0 } }).ledger,
        )
        expect(await outcomeOf(full.begin('c', 101))).toBe('too_many_requests')
        const demanding = { precondition: { ifMatch: '*' } as const }
        expect(await outcomeOf(limited.begin('c', 0, demanding))).toBe('precondition_failed')
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcome('c')).toBe('user_suspended')
      })
    })

    describe('capacity', () => {
      it('D01 takes a file of exactly what is left', async () => {
        await account.put('a', 60)
        await account.put('b', 40)
        expect(await account.usage()).toEqual({
          capacity: BASE_CAPACITY,
          used: 100,
          reserved: 0,
          fileCount: 2,
        })
      })

      it('D02 refuses one byte more, says the figures and changes nothing', async () => {
        await account.put('a', 60)
        await account.begin('c', 5)
        const refusal = await refusalOf(account.begin('b', 36))
        expect(refusal.code).toBe('capacity_exceeded')
        expect(refusal.facts).toEqual({
          limit: 'account',
          capacity: 100,
          used: 60,
          reserved: 5,
          requested: 36,
          available: 35,
        })
        expect(await account.usage()).toMatchObject({ used: 60, reserved: 5, fileCount: 1 })
        await sums()
      })

      it('D08 charges an overwrite the difference: 80 to 90 of 100', async () => {
        await account.put('a', 80)
        const version = await account.begin('a', 90)
        expect(await account.usage()).toMatchObject({ used: 80, reserved: 10 })
        const { replaced } = await account.commit(version, 90)
        expect(replaced).toBe(true)
        expect(await account.usage()).toMatchObject({ used: 90, reserved: 0, fileCount: 1 })
      })

      it('D11 below use: growth is refused, shrinking, equal size and empty files are not', async () => {
        await account.grant('gift', 100)
        await account.put('a', 150)
        await harness.users.revokeGrant(grantOf(account.userId, 'gift'))
        expect(await account.size('a')).toBe(150)
        expect(await outcomeOf(account.begin('b', 1))).toBe('capacity_exceeded')
        expect(await outcomeOf(account.begin('a', 151))).toBe('capacity_exceeded')
        await account.put('empty', 0)
        await account.put('a', 150)
        await account.put('a', 120)
        expect(await account.usage()).toMatchObject({ capacity: 100, used: 120, reserved: 0 })
        expect(await outcomeOf(account.begin('b', 1))).toBe('capacity_exceeded')
        await account.put('a', 90)
        await account.put('b', 10)
        await sums()
      })

      it('counts no more than 2^53 - 1 bytes of grants', async () => {
        await account.grant('one', MAX_BYTES)
        await account.grant('two', MAX_BYTES)
        await account.grant('three', MAX_BYTES)
        expect((await account.usage())?.capacity).toBe(MAX_BYTES)
        await account.put('vast', MAX_BYTES)
        expect(await outcomeOf(account.begin('b', 1))).toBe('capacity_exceeded')
        await account.put('b', 0)
        await account.put('vast', 0)
        await sums()
      })

      it('is exact just below 2^53 - 1', async () => {
        await account.grant('one', MAX_BYTES - BASE_CAPACITY - 1)
        expect((await account.usage())?.capacity).toBe(MAX_BYTES - 1)
        expect(await outcomeOf(account.begin('a', MAX_BYTES))).toBe('capacity_exceeded')
        await account.begin('a', MAX_BYTES - 1)
      })

      it('follows grants that start and end, without any job', async () => {
        const now = harness.now()
        const grant = grantOf(account.userId, 'ends')
        await harness.users.putGrant({ ...grant, bytes: 10, endsAt: now + 400 })
        const later = grantOf(account.userId, 'starts')
        await harness.users.putGrant({ ...later, bytes: 3, startsAt: now + 400 })
        const over = grantOf(account.userId, 'over')
        await harness.users.putGrant({ ...over, bytes: 7, endsAt: now - 1 })
        expect((await account.usage())?.capacity).toBe(110)
        await harness.advance(450)
        expect((await account.usage())?.capacity).toBe(103)
        expect(await outcomeOf(account.begin('a', 104))).toBe('capacity_exceeded')
        await account.begin('a', 103)
      })
    })

    describe('extend', () => {
      it('is refused with renew once the upload is settled or unknown', async () => {
        const version = await account.begin('a', 10)
        await account.abort(version)
        for (const lost of [version, createVersion()]) {
          const renewed = harness.ledger.renew({ version: lost })
          expect(await outcomeOf(renewed)).toBe('unavailable')
          expect(await outcomeOf(account.extend(lost, 20))).toBe('unavailable')
        }
        expect(await account.usage()).toMatchObject({ reserved: 0 })
      })
    })

    describe('commit', () => {
      it('gives a file that replaces another the size and the digests of its own content', async () => {
        await account.put('a', 40)
        const { file } = await account.put('a', 30)
        expect(file).toMatchObject({ size: 30, sha256: digestOf(30), crc32: 30 })
        expect(await harness.ledger.findFile({ ...file, audience: 'owner' })).toEqual(file)
      })

      it('makes the file visible with all that was said of it', async () => {
        const version = await account.begin('a', 50)
        expect(await account.size('a')).toBeUndefined()
        const { file, replaced, usage } = await account.commit(version, 40)
        expect(file).toEqual({
          userId: account.userId,
          name: 'a',
          version,
          objectKey: `users/${account.userId}/${version}`,
          size: 40,
          sha256: digestOf(40),
          crc32: 40,
          visibility: 'private',
          createdAt: file.updatedAt,
          updatedAt: file.updatedAt,
          mediaType: null,
          metadata: null,
          expiresAt: NEVER,
          isKept: 0,
          metadataBytes: 0,
          modifiedAt: 0,
          storedBy: null,
          deviceId: null,
        })
        expect(Math.abs(file.updatedAt - harness.now())).toBeLessThan(5_000)
        expect({ replaced, usage }).toEqual({
          replaced: false,
          usage: { capacity: 100, used: 40, reserved: 0, fileCount: 1 },
        })
        expect(await harness.ledger.findFile({ ...file, audience: 'owner' })).toEqual(file)
      })

      it('keeps the visibility and the creation time of the file it replaces', async () => {
        const first = await account.put('a', 1, { visibility: 'public' })
        await harness.advance(5)
        const second = await account.put('a', 2)
        expect(second.file.visibility).toBe('public')
        expect(second.file.createdAt).toBe(first.file.createdAt)
        expect(second.file.updatedAt).toBeGreaterThan(first.file.updatedAt)
        const third = await account.put('a', 3, { visibility: 'users' })
        expect(await harness.ledger.findFile({ ...third.file, audience: 'owner' })).toEqual(
          third.file,
        )
      })

      it('a commit of another user is refused as unavailable and changes nothing', async () => {
        const version = await account.begin('a', 10)
        const stranger = await openAccount(harness)
        await stranger.begin('b', 20)
        expect(await outcomeOf(stranger.commit(version, 10))).toBe('unavailable')
        expect(await stranger.usage()).toMatchObject({ used: 0, reserved: 20, fileCount: 0 })
        expect(await account.usage()).toMatchObject({ used: 0, reserved: 10, fileCount: 0 })
        expect((await account.commit(version, 10)).file.size).toBe(10)
      })

      it('answers the same when repeated, also after the file was replaced', async () => {
        const version = await account.begin('a', 10)
        const first = await account.commit(version, 10)
        expect(await account.commit(version, 10)).toEqual(first)
        await account.put('a', 20)
        const again = await account.commit(version, 10)
        expect(again.file).toEqual(first.file)
        expect(again.replaced).toBe(false)
        expect(await account.size('a')).toBe(20)
        expect(await account.usage()).toMatchObject({ used: 20, reserved: 0, fileCount: 1 })
      })

      it('stays within its reservation whatever others have reserved, but never above the capacity', async () => {
        await account.grant('gift', 100)
        const [a, b] = [await account.begin('a', 90), await account.begin('b', 110)]
        await harness.users.revokeGrant(grantOf(account.userId, 'gift'))
        await account.commit(a, 90)
        expect(await outcomeOf(account.commit(b, 11))).toBe('capacity_exceeded')
        await account.commit(b, 10)
        expect(await account.usage()).toMatchObject({ used: 100, reserved: 0 })
      })

      it('a commit after an abort is refused as unavailable and changes nothing', async () => {
        await account.put('a', 30)
        const version = await account.begin('a', 40)
        await account.begin('b', 20)
        expect(await account.abort(version)).toBe('aborted')
        expect(await outcomeOf(account.commit(version, 40))).toBe('unavailable')
        expect(await account.size('a')).toBe(30)
        expect(await account.usage()).toMatchObject({ used: 30, reserved: 20, fileCount: 1 })
        await sums()
      })

      it('a commit of a version that never began is refused as unavailable', async () => {
        expect(await outcomeOf(account.commit(createVersion(), 0))).toBe('unavailable')
      })
    })

    describe('abort', () => {
      it('keeps nothing of an upload of which nothing was stored, but never of a committed one', async () => {
        const { ledger } = harness
        const version = await account.begin('a', 30)
        const { file } = await account.put('b', 20)
        const { userId } = account
        const untouched = { userId, isUntouched: true }
        expect(await ledger.abort({ ...untouched, version })).toBe('forgotten')
        expect(await ledger.abort({ ...untouched, version })).toBe('aborted')
        expect(await ledger.abort({ ...untouched, version: file.version })).toBe('committed')
        expect(await account.usage()).toMatchObject({ used: 20, reserved: 0 })
        expect(await harness.journal(userId)).toEqual([file.version])
        expect(await outcomeOf(account.commit(version, 30))).toBe('unavailable')
        await sums()
      })

      it("leaves another user's upload alone", async () => {
        const stranger = await openAccount(harness)
        const version = await account.begin('a', 30)
        await stranger.abort(version)
        expect(await account.usage()).toMatchObject({ reserved: 30 })
        await account.commit(version, 30)
      })
    })

    describe('files', () => {
      it('are told apart byte by byte', async () => {
        const names = ['a', 'A', 'é', 'e\u0301', 'a ', '__proto__', '%2F', "'; --", '😀', '名']
        for (const [index, name] of names.entries()) await account.put(name, index)
        for (const [index, name] of names.entries()) expect(await account.size(name)).toBe(index)
        expect(await account.usage()).toMatchObject({ fileCount: names.length })
      })
    })
  })
}
