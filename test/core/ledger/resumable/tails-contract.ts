import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../../../src/core/objects/object-key.ts'
import type { Piece } from '../../../../src/core/objects/append-store.ts'
import type { ResumableUpload } from '../../../../src/core/resumable/resumable-ledger.ts'
import {
  type Account,
  BASE_CAPACITY,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
} from '../fixture.ts'
import {
  DAY_MS,
  part,
  PART_SIZE,
  type Resumables,
  resumablesOf,
  TAIL_RETENTION_MS,
  tailPiece,
} from './fixture.ts'

/** What an object counts beside its content, and an ended upload. */
const OVERHEAD = 4096

/** How much later than it was asked for something happens, on a busy machine. */
const SLACK_MS = 60_000
const HOUR_MS = 60 * 60_000

const MIB = 2 ** 20

/** The rules of the port `ResumableLedger` on tail objects: garbage whose removal is put off. */
export function resumableTailsContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`tails in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let uploads: Resumables

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      uploads = resumablesOf(harness.ledger, account)
    })

    /** On an instance where they live so long from their last progress. */
    const living = (uploadLifetimeMs: number): Resumables =>
      uploads.through(harness.with({ times: { uploadLifetimeMs } }).ledger)

    /** When the object may be removed; `undefined` if it is not garbage. */
    async function notBefore(key: ObjectKey): Promise<number | undefined> {
      const { garbage } = await harness.keys(account.userId)
      return garbage.find((each) => each.key === key)?.notBefore
    }

    async function expectKept(upload: ResumableUpload, ...keys: ObjectKey[]): Promise<void> {
      const { expiresAt } = await uploads.find(upload)
      for (const key of keys) {
        expect(await notBefore(key)).toBeGreaterThanOrEqual(expiresAt + TAIL_RETENTION_MS)
      }
    }

    async function expectLeft(...keys: ObjectKey[]): Promise<void> {
      for (const key of keys) {
        const delayMs = ((await notBefore(key)) ?? 0) - harness.now()
        expect(delayMs).toBeLessThanOrEqual(TAIL_RETENTION_MS)
        expect(delayMs).toBeGreaterThan(TAIL_RETENTION_MS - SLACK_MS)
      }
    }

    async function expectCounted(bytes: number): Promise<void> {
      const figures = { recorded: bytes, counted: bytes }
      expect(await harness.garbageBytes(account.userId)).toEqual(figures)
    }

    /** One append that ends with a tail of `size` bytes, which follows the pieces before it. */
    async function appendTail(
      upload: ResumableUpload,
      { size, before = [] }: { readonly size: number; readonly before?: readonly Piece[] },
    ): Promise<ObjectKey> {
      const { offset } = await uploads.find(upload)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { offset, tailKey })
      const last = before.at(-1)
      const firstByte = last === undefined ? offset : last.firstByte + last.size
      const pieces = [...before, tailPiece(firstByte, { size, key: tailKey })]
      const end = { offset: firstByte + size, replacedFrom: pieces[0]?.firstByte ?? 0, pieces }
      expect(await uploads.record(claimed, end)).toBe(true)
      return tailKey
    }

    it('are in the journal before a byte is written, until long after the upload', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      await uploads.hold(upload, { tailKey })
      await expectKept(upload, tailKey)
      await expectCounted(0)
      const none = await uploads.create('b', 40)
      await uploads.hold(none)
      expect((await harness.keys(account.userId)).garbage).toHaveLength(1)
    })

    it('are not in the journal when the claim was refused', async () => {
      const upload = await uploads.create('a', 40)
      await uploads.hold(upload)
      const tailKey = uploads.tailKey()
      expect(await uploads.claim(upload, { tailKey })).toBeUndefined()
      expect(await notBefore(tailKey)).toBeUndefined()
    })

    it('are kept as the lease grows, by however little', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey, holderMs: LONG_MS })
      const start = Math.ceil((harness.now() + DAY_MS) / HOUR_MS) * HOUR_MS
      const pieces = [tailPiece(0, { size: 3, key: tailKey })]
      const tail = { replacedFrom: 0, pieces, holderMs: LONG_MS }
      const none = { pieces: [], holderMs: LONG_MS }
      for (const [at, minutes] of [1, 28, 59, 61, 89, 91, 119].entries()) {
        const offset = 3 + at
        const record = at === 0 ? tail : { ...none, replacedFrom: offset }
        const lifetimeMs = start + minutes * (HOUR_MS / 60) - harness.now()
        expect(await living(lifetimeMs).record(claimed, { ...record, offset })).toBe(true)
        await expectKept(upload, tailKey)
      }
    })

    it('are kept as long as a claim alone lets the upload live', async () => {
      const upload = await uploads.create('a', 40, { emptyLifetimeMs: 1_000 })
      const { upload: one } = await uploads.hold(upload, { holderMs: 0 })
      const key = uploads.tailKey()
      const pieces = [tailPiece(0, { size: 3, key })]
      await living(1_000).record(one, { offset: 3, replacedFrom: 0, pieces })
      const tail = await appendTail(upload, { size: 2 })
      await uploads.hold(upload, { offset: 5, holderMs: 2 * DAY_MS })
      await expectKept(upload, tail)
    })

    it('go when a part replaces them, and count from then on with their sizes', async () => {
      const upload = await uploads.create('a', 40)
      const [one, two] = [
        await appendTail(upload, { size: 3 }),
        await appendTail(upload, { size: 2 }),
      ]
      await expectCounted(0)
      const three = await appendTail(upload, { size: 1 })
      const { upload: claimed } = await uploads.hold(upload, { offset: 6 })
      await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
      await expectLeft(one, two, three)
      await expectCounted(3 + 2 + 1 + 3 * OVERHEAD)
      expect(await account.usage()).toMatchObject({ used: 0, reserved: 40 })
    })

    it('stay in place before what a record replaces', async () => {
      const upload = await uploads.create('a', 40)
      const [one, two] = [
        await appendTail(upload, { size: 3 }),
        await appendTail(upload, { size: 2 }),
      ]
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { offset: 5, tailKey })
      const pieces = [tailPiece(3, { size: 4, key: tailKey })]
      await uploads.record(claimed, { offset: 7, replacedFrom: 3, pieces })
      await expectKept(upload, one, tailKey)
      await expectLeft(two)
      await expectCounted(2 + OVERHEAD)
    })

    it('go with the record that seals, though it holds the upload for its finish', async () => {
      const upload = await uploads.create('a', 8)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      const seal = { offset: 8, sealed: { digest: undefined }, holderMs: LONG_MS }
      await uploads.record(claimed, { ...seal, replacedFrom: 0, pieces: [part(0)] })
      expect(await notBefore(tailKey)).toBeUndefined()
    })

    it('go when they are replaced, though their append goes on', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      const pieces = [tailPiece(0, { size: 3, key: tailKey })]
      const hold = { replacedFrom: 0, holderMs: LONG_MS }
      await uploads.record(claimed, { ...hold, offset: 3, pieces })
      await expectKept(upload, tailKey)
      await living(3 * DAY_MS).record(claimed, { ...hold, offset: 8, pieces: [part(0)] })
      await expectLeft(tailKey)
      await living(6 * DAY_MS).record(claimed, { offset: 9 })
      await expectLeft(tailKey)
      await expectCounted(3 + OVERHEAD)
    })

    it('stay when a record of them is repeated', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      const pieces = [tailPiece(0, { size: 5, key: tailKey })]
      const record = { offset: 5, replacedFrom: 0, pieces }
      await uploads.record(claimed, { ...record, holderMs: LONG_MS })
      for (const isRecorded of [true, false]) {
        expect(await uploads.record(claimed, record)).toBe(isRecorded)
        await expectKept(upload, tailKey)
        await expectCounted(0)
        expect(await harness.ledger.listPieces(upload.version)).toEqual(pieces)
      }
    })

    it('tails that went with the release of their append are not recorded later (I11)', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      await uploads.record(claimed)
      const pieces = [tailPiece(0, { size: 5, key: tailKey })]
      expect(await uploads.record(claimed, { offset: 5, replacedFrom: 0, pieces })).toBe(false)
      expect(await notBefore(tailKey)).toBeUndefined()
      expect(await uploads.find(upload)).toMatchObject({ offset: 0 })
    })

    it('are forgotten if nothing was sent, and count if what was sent is not recorded', async () => {
      const upload = await uploads.create('a', 40)
      const [unused, refused] = [uploads.tailKey(), uploads.tailKey()]
      const one = await uploads.hold(upload, { tailKey: unused })
      await uploads.record(one.upload, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
      expect(await notBefore(unused)).toBeUndefined()
      await expectCounted(0)
      const two = await uploads.hold(upload, { offset: 8, tailKey: refused })
      await uploads.record(two.upload, { sentTailBytes: 7 })
      await expectLeft(refused)
      await expectCounted(7 + OVERHEAD)
    })

    it('tails of an append that was taken over go and count, unless they were recorded', async () => {
      const upload = await uploads.create('a', 40)
      const [crashed, recorded] = [uploads.tailKey(), uploads.tailKey()]
      await uploads.hold(upload, { tailKey: crashed, holderMs: 0 })
      const { upload: second } = await uploads.hold(upload, { tailKey: recorded, holderMs: 0 })
      await expectLeft(crashed)
      const pieces = [tailPiece(0, { size: 5, key: recorded })]
      await uploads.record(second, { offset: 5, replacedFrom: 0, pieces, holderMs: 0 })
      const third = await uploads.hold(upload, { offset: 5 })
      expect(third).toMatchObject({ tail: pieces })
      await expectKept(upload, recorded)
      await expectCounted(PART_SIZE + OVERHEAD)
    })

    it('tails of appends that are fenced over and over count no more than their content can hold', async () => {
      const upload = await uploads.create('a', 5)
      for (let round = 1; round <= 3; round += 1) {
        const { upload: claimed } = await uploads.hold(upload, { tailKey: uploads.tailKey() })
        expect(await harness.ledger.fence({ ...claimed })).toBe(true)
        await expectCounted((round - 1) * (5 + OVERHEAD))
      }
      await uploads.abort(upload)
      await expectCounted(3 * (5 + OVERHEAD) + OVERHEAD)
    })

    it('tails of an append that was taken over stay if they end where a part does', async () => {
      const upload = await uploads.create('a', 40)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey, holderMs: 0 })
      const pieces = [tailPiece(0, { size: 8, key: tailKey })]
      await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces, holderMs: 0 })
      await uploads.hold(upload, { offset: 8 })
      await expectKept(upload, tailKey)
    })

    it('tails of an aborted upload go and count, the one of a running append as what it can hold', async () => {
      const upload = await uploads.create('a', 40)
      const tail = await appendTail(upload, { size: 3, before: [part(0)] })
      const running = uploads.tailKey()
      await uploads.hold(upload, { offset: 11, tailKey: running })
      await uploads.abort(upload, { endedAs: 'cancelled' })
      await expectLeft(tail, running)
      const counted = 3 + PART_SIZE + 3 * OVERHEAD
      await expectCounted(counted)
      expect(await uploads.abort(upload)).toBe('aborted')
      await expectCounted(counted)
    })

    it('tails of a deleted user go with the rest, and count for nobody', async () => {
      const upload = await uploads.create('a', 40)
      const [tail, running] = [await appendTail(upload, { size: 3 }), uploads.tailKey()]
      await uploads.hold(upload, { offset: 3, tailKey: running })
      await harness.users.deleteUser(account.userId)
      const purge = { userId: account.userId, limit: 100 }
      const purging = harness.with({ times: { purgeDelayMs: TAIL_RETENTION_MS } }).ledger
      while ((await purging.purgeDeletedUsers(purge)) > 0);
      await expectLeft(tail, running)
      expect((await harness.keys(account.userId)).garbage).toHaveLength(2)
    })

    it('leave with the sweeper, who gives back what they counted', async () => {
      const upload = await uploads.create('a', 40)
      await appendTail(upload, { size: 3 })
      await appendTail(upload, { size: 2 })
      await uploads.abort(upload)
      await expectCounted(5 + 3 * OVERHEAD)
      const { garbage } = await harness.keys(account.userId)
      const { userId } = account
      const removed = garbage.map(({ key, notBefore: due }) => ({
        objectKey: key as ObjectKey,
        notBefore: due,
        userId,
      }))
      await harness.ledger.noteGarbageRemovals({ userId, removed, failed: [] })
      // The ended upload itself.
      await expectCounted(OVERHEAD)
      expect((await harness.keys(userId)).garbage).toEqual([])
    })

    it('tails that a user leaves over and over meet the bound of the garbage', async () => {
      await account.grant('more', 40 * MIB - BASE_CAPACITY)
      const partSize = 20 * MIB
      const leave = async (): Promise<void> => {
        const upload = await uploads.create('a', 30 * MIB, { partSize })
        await appendTail(upload, { size: partSize - 1 })
        await uploads.abort(upload)
      }
      for (let round = 0; round < 4; round += 1) await leave()
      const upload = await outcomeOf(uploads.create('b', 41 * MIB, { partSize }))
      expect(upload).toBe('too_many_requests')
      expect(await outcomeOf(leave())).toBe('ok')
      expect(await outcomeOf(leave())).toBe('too_many_requests')
    })
  })
}
