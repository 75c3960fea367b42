import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Account, type LedgerHarness, LONG_MS, openAccount, outcomeOf } from '../fixture.ts'
import { DAY_MS, part, type Resumables, resumablesOf, tailPiece } from './fixture.ts'

const DIGEST = { sha256: 'ab'.repeat(32), crc32: 0xffff_ffff }

/** The rules of the port `ResumableLedger` on claims, records and what finishes an upload. */
export function resumableAppendContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`appends in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let uploads: Resumables
    /** The same user's on another instance. */
    let elsewhere: Resumables

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      uploads = resumablesOf(harness.ledger, account)
      elsewhere = uploads.through(harness.other)
    })

    describe('a claim', () => {
      it('belongs to one instance alone, at the recorded offset and no other', async () => {
        const upload = await uploads.create('a', 20)
        expect(await uploads.claim(upload, { offset: 1 })).toBeUndefined()
        const claim = await uploads.hold(upload, { storeState: '{"intent":1}' })
        expect(claim).toMatchObject({ tail: [] })
        const held = { epoch: 1, isHeld: true, holder: 'here', storeState: '{"intent":1}' }
        expect(claim.upload).toEqual({ ...upload, ...held })
        expect(await uploads.find(upload)).toEqual(claim.upload)
        expect(await elsewhere.claim(upload, { holder: 'there' })).toBeUndefined()
        expect(await uploads.claim(upload)).toBeUndefined()
        expect(await uploads.record(claim.upload, { offset: 5 })).toBe(true)
        expect(await elsewhere.claim(upload, { offset: 0 })).toBeUndefined()
        const next = await elsewhere.hold(upload, { offset: 5, holder: 'there' })
        expect(next.upload).toMatchObject({ epoch: 2, holder: 'there', storeState: '{"intent":1}' })
      })

      it('is not to be had with a store state that was made from an earlier one', async () => {
        const upload = await uploads.create('a', 20)
        const { upload: claimed } = await uploads.hold(upload, { epoch: upload.epoch })
        expect(await uploads.record(claimed, { storeState: '{"file":2}' })).toBe(true)
        const late = { epoch: upload.epoch, storeState: '{"file":1}' }
        expect(await uploads.claim(upload, late)).toBeUndefined()
        expect(await uploads.find(upload)).toMatchObject({ storeState: '{"file":2}' })
        expect(await uploads.claim(upload, { epoch: 1 })).toMatchObject({ upload: { epoch: 2 } })
      })

      it('R24 is refused to a user who is suspended, and to another', async () => {
        const upload = await uploads.create('a', 5)
        const neighbour = resumablesOf(harness.ledger, await openAccount(harness))
        expect(await neighbour.claim(upload)).toBeUndefined()
        const later = uploads.claim(upload, { userCreatedAt: account.userCreatedAt + 1 })
        expect(await outcomeOf(later)).toBe('access_token_invalid')
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcomeOf(uploads.claim(upload))).toBe('user_suspended')
        expect(await uploads.find(upload)).toMatchObject({ epoch: 0 })
      })

      it('R29 keeps the upload alive while it lasts, but not beyond its end', async () => {
        const empty = await uploads.create('a', 5, { emptyLifetimeMs: LONG_MS })
        const held = await uploads.hold(empty, { holderMs: 2 * LONG_MS })
        expect(held.upload.expiresAt).toBeGreaterThanOrEqual(empty.expiresAt + LONG_MS)
        expect(await uploads.abort(empty, { expiredOnly: true })).toBeUndefined()
        const ending = { emptyLifetimeMs: LONG_MS, maxLifetimeMs: 2 * LONG_MS }
        const short = await uploads.create('b', 5, ending)
        const { upload } = await uploads.hold(short, { holderMs: DAY_MS })
        expect(upload.expiresAt).toBeLessThanOrEqual(short.createdAt + 2 * LONG_MS)
        expect(upload.expiresAt).toBeGreaterThan(short.expiresAt)
      })
    })

    /** On an instance where they live so long from their last progress. */
    const living = (uploadLifetimeMs: number): Resumables =>
      uploads.through(harness.with({ times: { uploadLifetimeMs } }).ledger)

    describe('a record', () => {
      it('moves the offset, replaces pieces from where it says, and lets the upload live on', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload)
        const renewed = { holderMs: LONG_MS, storeState: '{"id":"x"}' }
        const first = { offset: 16, replacedFrom: 0, pieces: [part(0), part(1)] }
        expect(await living(2 * DAY_MS).record(claimed, { ...first, ...renewed })).toBe(true)
        const found = await uploads.find(upload)
        expect(found).toMatchObject({ offset: 16, isHeld: true, storeState: '{"id":"x"}' })
        expect(found.updatedAt).toBeGreaterThanOrEqual(upload.updatedAt)
        expect(found.expiresAt - harness.now()).toBeGreaterThan(2 * DAY_MS - 60_000)
        const pieces = [part(1, 'again'), part(2)]
        expect(await uploads.record(claimed, { offset: 24, replacedFrom: 8, pieces })).toBe(true)
        expect(await uploads.find(upload)).toMatchObject({ offset: 24, isHeld: false })
        const listed = await harness.ledger.listPieces(upload.version)
        expect(listed).toEqual([part(0), part(1, 'again'), part(2)])
      })

      it('a record without progress renews the claim, not the upload', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload, { holderMs: 0 })
        expect(await uploads.record(claimed, { holderMs: LONG_MS / 2 })).toBe(true)
        const found = await uploads.find(upload)
        expect(found).toMatchObject({ isHeld: true, offset: 0, expiresAt: upload.expiresAt })
        expect(found.updatedAt).toBe(upload.updatedAt)
      })

      it('lives no longer than the upload may in all', async () => {
        const upload = await uploads.create('a', 40, { maxLifetimeMs: DAY_MS })
        const { upload: claimed } = await uploads.hold(upload)
        await living(3 * DAY_MS).record(claimed, { offset: 8 })
        const { expiresAt, createdAt } = await uploads.find(upload)
        expect(Math.abs(expiresAt - createdAt - DAY_MS)).toBeLessThan(1_000)
      })

      it('R06 of a fenced append changes nothing, now and ever after', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: old } = await uploads.hold(upload, { holderMs: 0 })
        const pieces = [part(0)]
        const { upload: claimed } = await elsewhere.hold(upload, { holder: 'there' })
        const late = { offset: 8, replacedFrom: 0, pieces, holderMs: LONG_MS }
        expect(await uploads.record(old, late)).toBe(false)
        expect(await uploads.find(upload)).toEqual(claimed)
        expect(await elsewhere.record(claimed, { ...late, pieces: [part(0, 'new')] })).toBe(true)
        const sealed = { ...late, offset: 40, sealed: { digest: DIGEST } }
        expect(await uploads.record(old, sealed)).toBe(false)
        expect(await uploads.find(upload)).toMatchObject({ offset: 8, state: 'open', epoch: 2 })
        expect(await harness.ledger.listPieces(upload.version)).toEqual([part(0, 'new')])
      })

      it('a record that arrives after a later one of the same append changes nothing (I11)', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload)
        const pieces = [part(0), part(1)]
        await uploads.record(claimed, { offset: 16, replacedFrom: 0, pieces, holderMs: LONG_MS })
        const late = { offset: 8, replacedFrom: 0, pieces: [part(0)] }
        expect(await uploads.record(claimed, late)).toBe(false)
        expect(await uploads.find(upload)).toMatchObject({ offset: 16, isHeld: true })
        expect(await harness.ledger.listPieces(upload.version)).toEqual(pieces)
      })

      it('a record that arrives after the release of its append changes nothing (I11)', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload)
        const pieces = [part(0), part(1)]
        await uploads.record(claimed, { offset: 16, replacedFrom: 0, pieces })
        const later = { offset: 24, replacedFrom: 16, pieces: [part(2)] }
        for (const late of [later, { ...later, holderMs: LONG_MS }]) {
          expect(await uploads.record(claimed, late)).toBe(false)
        }
        expect(await harness.ledger.listPieces(upload.version)).toEqual(pieces)
        expect(await uploads.find(upload)).toMatchObject({ offset: 16, isHeld: false })
        expect(await harness.runningUploads(account.userId)).toBe(0)
      })

      it('R24 goes on for a user who was suspended since the claim', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload)
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await uploads.record(claimed, { offset: 8 })).toBe(true)
      })

      it('takes as many pieces as a large file has', async () => {
        const upload = await uploads.create('a')
        const { upload: claimed } = await uploads.hold(upload)
        const pieces = Array.from({ length: 1201 }, (_, at) => part(at))
        const offset = 1201 * 8
        expect(await uploads.record(claimed, { offset, replacedFrom: 0, pieces })).toBe(true)
        expect(await harness.ledger.listPieces(upload.version)).toEqual(pieces)
      })

      it('seals the upload with all its bytes, and then none is appended', async () => {
        const upload = await uploads.create('a', 8)
        const { upload: claimed } = await uploads.hold(upload)
        const pieces = [part(0)]
        const seal = { offset: 8, replacedFrom: 0, pieces, sealed: { digest: DIGEST } }
        expect(await uploads.record(claimed, seal)).toBe(true)
        expect(await uploads.find(upload)).toMatchObject({
          state: 'sealed',
          digest: DIGEST,
          isHeld: false,
        })
        expect(await uploads.claim(upload, { offset: 8 })).toBeUndefined()
      })
    })

    describe('the tail', () => {
      it('is told with the claim: what comes after the last full part', async () => {
        const upload = await uploads.create('a', 40)
        const keys = [uploads.tailKey(), uploads.tailKey()] as const
        const first = await uploads.hold(upload, { tailKey: keys[0] })
        const one = tailPiece(8, { size: 3, key: keys[0] })
        const pieces = [part(0), one]
        await uploads.record(first.upload, { offset: 11, replacedFrom: 0, pieces })
        const second = await uploads.hold(upload, { offset: 11, tailKey: keys[1] })
        expect(second.tail).toEqual([one])
        const two = tailPiece(11, { size: 2, key: keys[1] })
        await uploads.record(second.upload, { offset: 13, replacedFrom: 11, pieces: [two] })
        const third = await uploads.hold(upload, { offset: 13 })
        expect(third.tail).toEqual([one, two])
        await uploads.record(third.upload, { offset: 16, replacedFrom: 8, pieces: [part(1)] })
        expect((await uploads.hold(upload, { offset: 16 })).tail).toEqual([])
        expect(await harness.ledger.listPieces(upload.version)).toEqual([part(0), part(1)])
      })

      it('is also the last part of all, which an append stored without sealing the upload', async () => {
        const upload = await uploads.create('a', 11)
        const { upload: claimed } = await uploads.hold(upload)
        const last = { ...part(1), size: 3 }
        await uploads.record(claimed, { offset: 11, replacedFrom: 0, pieces: [part(0), last] })
        expect((await uploads.hold(upload, { offset: 11 })).tail).toEqual([last])
      })
    })

    describe('a stop', () => {
      it('is asked of the instance that holds the upload, until it releases', async () => {
        const upload = await uploads.create('a', 40)
        const other = await uploads.create('b', 40)
        const holder = crypto.randomUUID()
        const { upload: claimed } = await uploads.hold(upload, { holder })
        await uploads.hold(other, { holder })
        const asked = () => harness.ledger.listAskedToStop(holder)
        expect(await asked()).toEqual([])
        await harness.other.askToStop(upload)
        expect(await asked()).toEqual([upload.version])
        expect(await harness.ledger.listAskedToStop('there')).toEqual([])
        await uploads.record(claimed, { offset: 8, holderMs: LONG_MS })
        expect(await asked()).toEqual([upload.version])
        await uploads.record(claimed, { offset: 8 })
        expect(await asked()).toEqual([])
        await harness.other.askToStop(upload)
        expect(await asked()).toEqual([])
        await uploads.hold(upload, { offset: 8, holder })
        expect(await asked()).toEqual([])
      })

      it('is asked by the abort of an upload', async () => {
        const upload = await uploads.create('a', 40)
        const holder = crypto.randomUUID()
        await uploads.hold(upload, { holder })
        await elsewhere.abort(upload, { endedAs: 'cancelled' })
        expect(await harness.ledger.listAskedToStop(holder)).toEqual([upload.version])
      })

      it('R06 by a fence lets no earlier claim record, and the next one at once', async () => {
        const upload = await uploads.create('a', 40)
        const { upload: claimed } = await uploads.hold(upload)
        expect(await harness.other.fence({ ...claimed, epoch: claimed.epoch - 1 })).toBe(false)
        expect(await uploads.find(upload)).toEqual(claimed)
        expect(await harness.other.fence(claimed)).toBe(true)
        expect(await uploads.find(upload)).toMatchObject({ isHeld: false, holder: 'here' })
        expect(await uploads.record(claimed, { offset: 8 })).toBe(false)
        const next = await elsewhere.hold(upload, { holder: 'there' })
        expect(next).toMatchObject({ upload: { epoch: 3 } })
      })

      it('leaves alone a sealed upload and those of others', async () => {
        const upload = await uploads.create('a', 8)
        await uploads.append(upload, 8)
        const finishing = await uploads.finish(upload)
        await harness.other.askToStop(upload)
        expect(await harness.other.fence(await uploads.find(upload))).toBe(false)
        expect(await uploads.find(upload)).toEqual(finishing)
        expect(await harness.ledger.listAskedToStop('here')).not.toContain(upload.version)
        const open = await uploads.create('b', 8)
        const { upload: claimed } = await uploads.hold(open)
        const { userId } = await openAccount(harness)
        await harness.other.askToStop({ userId, version: open.version })
        expect(await harness.other.fence({ ...claimed, userId })).toBe(false)
        expect(await uploads.find(open)).toEqual(claimed)
      })
    })

    describe('a finish', () => {
      const sealed = async (options: Parameters<Resumables['create']>[2] = {}) => {
        const upload = await uploads.create('a', 8, options)
        await uploads.append(upload, 8)
        return upload
      }

      it('is held by the record that seals, under the epoch of its append', async () => {
        const upload = await uploads.create('a', 8)
        const { upload: claimed } = await uploads.hold(upload)
        await harness.ledger.askToStop(upload)
        const seal = { offset: 8, sealed: { digest: undefined }, holderMs: LONG_MS }
        expect(await uploads.record(claimed, seal)).toBe(true)
        const found = await uploads.find(upload)
        expect(found).toMatchObject({ state: 'sealed', isHeld: true, epoch: claimed.epoch })
        const asked = await harness.ledger.listAskedToStop(found.holder ?? '')
        expect(asked).not.toContain(upload.version)
        expect(await elsewhere.finish(upload)).toBeUndefined()
        await harness.ledger.endFinish({ ...found, refusal: undefined })
        expect(await elsewhere.finish(upload)).toMatchObject({ epoch: claimed.epoch + 1 })
      })

      it('is renewed by a record, and taken over when its lease has ended', async () => {
        const upload = await sealed()
        const first = await uploads.finish(upload, 0)
        if (first === undefined) throw new Error('The upload was not claimed.')
        const renewal = { sealed: { digest: undefined }, holderMs: LONG_MS }
        expect(await uploads.record(first, renewal)).toBe(true)
        expect(await elsewhere.finish(upload)).toBeUndefined()
        await uploads.record(first, { ...renewal, holderMs: 0 })
        expect(await elsewhere.finish(upload)).toMatchObject({ epoch: 3 })
        expect(await uploads.record(first, renewal)).toBe(false)
        const end = { ...first, refusal: 'capacity_exceeded' } as const
        await harness.ledger.endFinish(end)
        expect(await uploads.find(upload)).toMatchObject({ isHeld: true, refusal: undefined })
      })

      it('R12 that is refused releases the upload, says why, and can be tried again', async () => {
        const upload = await sealed()
        const first = await uploads.finish(upload)
        if (first === undefined) throw new Error('The upload was not claimed.')
        await harness.ledger.endFinish({ ...first, refusal: 'capacity_exceeded' })
        const refused = { state: 'sealed', refusal: 'capacity_exceeded', holder: undefined }
        expect(await uploads.find(upload)).toMatchObject({ ...refused, isHeld: false })
        const second = await elsewhere.finish(upload)
        if (second === undefined) throw new Error('The upload was not claimed.')
        await harness.ledger.endFinish({ ...second, refusal: undefined })
        expect(await uploads.find(upload)).toMatchObject({ refusal: undefined, isHeld: false })
        await account.commit(upload.version, 8)
        expect(await elsewhere.finish(upload)).toBeUndefined()
      })

      it('R24 is refused to a user who is suspended', async () => {
        const upload = await sealed()
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcomeOf(uploads.finish(upload))).toBe('user_suspended')
      })
    })
  })
}
