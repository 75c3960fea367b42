import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {
  PrepareAppend,
  ResumableUpload,
} from '../../../../src/core/resumable/resumable-ledger.ts'
import {
  type Account,
  BASE_CAPACITY,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
  refusalOf,
} from '../fixture.ts'
import { DAY_MS, PART_SIZE, type Resumables, resumablesOf } from './fixture.ts'

/** The rules of the port `ResumableLedger` on what is created and prepared. */
export function resumableCreationContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`resumable uploads in the ledger on ${name}`, () => {
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

    const measureUnfinished = () => harness.ledger.measureUnfinished(account.userId)
    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }

    describe('creation', () => {
      it('reserves the growth, and tells all that was said of the upload', async () => {
        await account.put('a', 20)
        const precondition = { ifMatch: '*', ifUnmodifiedSince: harness.now() + LONG_MS } as const
        const said = {
          metadata: 'filename YQ==,more',
          visibility: 'public',
          precondition,
          expectedSha256: 'ab'.repeat(32),
        } as const
        const created = await uploads.create('a', 50, said)
        expect(created).toEqual({
          ...said,
          userId: account.userId,
          version: created.version,
          name: 'a',
          objectKey: `users/${account.userId}/${created.version}`,
          state: 'open',
          length: 50,
          offset: 0,
          partSize: PART_SIZE,
          epoch: 0,
          isHeld: false,
          holder: undefined,
          storeState: '{}',
          digest: undefined,
          refusal: undefined,
          createdAt: created.createdAt,
          updatedAt: created.updatedAt,
          expiresAt: created.expiresAt,
        })
        // The clock may go on within the statement.
        const ageMs = created.updatedAt - created.createdAt
        expect([ageMs >= 0, ageMs < 1_000]).toEqual([true, true])
        expect(Math.abs(created.createdAt - harness.now())).toBeLessThan(5_000)
        expect(Math.abs(created.expiresAt - created.createdAt - DAY_MS)).toBeLessThan(1_000)
        expect(await uploads.find(created)).toEqual(created)
        expect(await account.usage()).toMatchObject({ used: 20, reserved: 30 })
        await sums()
      })

      it('leaves unsaid what was not said, and reserves nothing for a deferred length', async () => {
        const created = await uploads.create('a')
        expect(created).toMatchObject({ length: undefined, offset: 0, state: 'open' })
        expect(created).toMatchObject({ visibility: undefined, precondition: undefined })
        expect(await account.usage()).toMatchObject({ reserved: 0 })
      })

      it('is refused as an upload is, in the same order, and then changes nothing', async () => {
        await account.put('a', 60)
        await uploads.create('b', 5)
        const full = uploads.through(
          harness.with({ limits: { maxUnfinished: 1, maxFiles: 1 } }).ledger,
        )
        const withFiles = uploads.through(harness.with({ limits: { maxFiles: 1 } }).ledger)
        const demanding = { precondition: { ifMatch: '*' } } as const
        const codes = [
          await outcomeOf(full.create('c', 50, demanding)),
          await outcomeOf(full.create('c', 50)),
          await outcomeOf(withFiles.create('c', 50)),
          await outcomeOf(uploads.create('c', 50)),
        ]
        expect(codes).toEqual([
          'precondition_failed',
          'unfinished_uploads_exceeded',
          'file_count_exceeded',
          'capacity_exceeded',
        ])
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await outcomeOf(full.create('c', 50, demanding))).toBe('user_suspended')
        expect(await account.usage()).toMatchObject({ used: 60, reserved: 5, fileCount: 1 })
        expect(await measureUnfinished()).toEqual({ count: 1, bytes: 5 })
        await sums()
      })

      it('is refused to the next user of the id', async () => {
        const next = { userId: account.userId, userCreatedAt: account.userCreatedAt + 1 }
        const stranger = resumablesOf(harness.ledger, next)
        expect(await outcomeOf(stranger.create('a', 1))).toBe('access_token_invalid')
      })

      it('R28 stops at the limit on unfinished uploads, and says the figures', async () => {
        const limited = uploads.through(harness.with({ limits: { maxUnfinished: 2 } }).ledger)
        await account.begin('plain', 1)
        await limited.create('a', 10)
        const second = await limited.create('b', 20)
        const refusal = await refusalOf(limited.create('c', 0))
        expect(refusal.code).toBe('unfinished_uploads_exceeded')
        expect(refusal.facts).toEqual({
          unfinished_count: 2,
          unfinished_bytes: 30,
          max_unfinished_uploads: 2,
        })
        const neighbour = await openAccount(harness)
        const { ledger } = harness.with({ limits: { maxUnfinished: 1 } })
        await resumablesOf(ledger, neighbour).create('a', 1)
        await uploads.abort(second, { endedAs: 'cancelled' })
        await limited.create('c', 0)
        expect(await outcomeOf(limited.create('d', 0))).toBe('unfinished_uploads_exceeded')
      })

      it('is off with a limit of none', async () => {
        const { ledger } = harness.with({ limits: { maxUnfinished: 0 } })
        expect(await outcomeOf(uploads.through(ledger).create('a', 0))).toBe(
          'unfinished_uploads_exceeded',
        )
      })

      it('R28 lets overwrites announce as much as the capacity, or a single one as much as it likes', async () => {
        await account.grant('gift', 100)
        for (const name of ['a', 'b', 'c']) await account.put(name, 60)
        await account.grant('gift', 0)
        // None of them reserves anything.
        const first = await uploads.create('a', 60)
        const refusal = await refusalOf(uploads.create('b', 41))
        expect(refusal.code).toBe('unfinished_uploads_exceeded')
        expect(refusal.facts).toMatchObject({ unfinished_count: 1, unfinished_bytes: 60 })
        await uploads.create('b', BASE_CAPACITY - 60)
        expect(await outcomeOf(uploads.create('c', 1))).toBe('unfinished_uploads_exceeded')
        expect(await account.usage()).toMatchObject({ used: 180, reserved: 0 })
        await uploads.abort(first)
        await uploads.create('c', 60)
      })
    })

    describe('the limit on uploads under way', () => {
      const running = () => harness.runningUploads(account.userId)
      const begin = (name: string) => {
        const { ledger } = harness.with({ limits: { maxUploads: 2 } })
        return outcomeOf(account.through(ledger).begin(name, 0))
      }

      it('H12 counts a resumable upload while an append holds it, and no other', async () => {
        const idle = await uploads.create('a', 10)
        const held = await uploads.create('b', 10)
        expect(await running()).toBe(0)
        const { upload } = await uploads.hold(held)
        expect(await running()).toBe(1)
        expect(await begin('c')).toBe('ok')
        expect(await begin('d')).toBe('too_many_requests')
        await uploads.record(upload)
        expect(await running()).toBe(1)
        expect(await begin('d')).toBe('ok')
        // Its lease has ended at once.
        await uploads.hold(idle, { holderMs: 0 })
        expect(await running()).toBe(2)
        expect(await begin('e')).toBe('too_many_requests')
      })

      it('H12 is not asked for what a user may resume', async () => {
        for (const name of ['a', 'b']) await account.begin(name, 0)
        const upload = await uploads.create('c', 5)
        await uploads.hold(upload)
        expect(await running()).toBe(3)
      })
    })

    describe('preparation', () => {
      const prepared = (upload: ResumableUpload, options: Partial<PrepareAppend>) =>
        outcomeOf(uploads.prepare(upload, options))

      it('changes nothing where the commit would not be refused', async () => {
        const upload = await uploads.create('a', 50)
        expect(await prepared(upload, { bytes: 50 })).toBe('ok')
        expect(await uploads.find(upload)).toEqual(upload)
        expect(await account.usage()).toMatchObject({ reserved: 50 })
      })

      it('R25 reserves what the replaced file no longer covers, if that fits', async () => {
        await account.put('a', 40)
        const upload = await uploads.create('a', 50)
        expect(await account.usage()).toMatchObject({ used: 40, reserved: 10 })
        await account.remove('a')
        expect(await prepared(upload, { bytes: 50 })).toBe('ok')
        expect(await account.usage()).toMatchObject({ used: 0, reserved: 50 })
        await account.put('a', 30)
        await account.put('b', 20)
        expect(await prepared(upload, { bytes: 50 })).toBe('ok')
        await account.remove('a')
        await account.put('c', 30)
        expect(await account.usage()).toMatchObject({ used: 50, reserved: 50 })
        expect(await prepared(upload, { bytes: 51 })).toBe('capacity_exceeded')
        await sums()
      })

      it('R26 is refused what no longer fits, and goes on when it does', async () => {
        await account.grant('gift', 50)
        const upload = await uploads.create('a', 120)
        await account.grant('gift', 0)
        const refusal = await refusalOf(uploads.prepare(upload, { bytes: 120 }))
        expect(refusal.code).toBe('capacity_exceeded')
        expect(refusal.facts).toMatchObject({ capacity: 100, reserved: 120, requested: 120 })
        await account.grant('gift', 20)
        expect(await prepared(upload, { bytes: 120 })).toBe('ok')
      })

      it('R25 is refused by the precondition of the creation', async () => {
        const precondition = { ifNoneMatch: '*' } as const
        const upload = await uploads.create('a', 5, { precondition })
        expect(await prepared(upload, { bytes: 5 })).toBe('ok')
        await account.put('a', 1)
        expect(await prepared(upload, { bytes: 5 })).toBe('precondition_failed')
      })

      it('R24 is refused to a user who is suspended, and goes on when that ends', async () => {
        const upload = await uploads.create('a', 5)
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await prepared(upload, { bytes: 5 })).toBe('user_suspended')
        expect(await prepared(upload, { bytes: 5, userCreatedAt: 1 })).toBe('access_token_invalid')
        await harness.users.setUserStatus(account.userId, 'active')
        expect(await prepared(upload, { bytes: 5 })).toBe('ok')
      })

      it('is refused when the files are too many by then', async () => {
        const upload = await uploads.create('a', 5)
        await account.put('b', 1)
        const full = uploads.through(harness.with({ limits: { maxFiles: 1 } }).ledger)
        const refused = full.prepare(upload, { bytes: 5 })
        expect(await outcomeOf(refused)).toBe('file_count_exceeded')
      })

      it('R27 reserves a deferred length step by step, and declares one', async () => {
        const upload = await uploads.create('a')
        expect(await prepared(upload, { bytes: 30 })).toBe('ok')
        expect(await prepared(upload, { bytes: 20 })).toBe('ok')
        expect(await account.usage()).toMatchObject({ reserved: 30 })
        expect(await measureUnfinished()).toEqual({ count: 1, bytes: 30 })
        expect(await prepared(upload, { bytes: 101 })).toBe('capacity_exceeded')
        await uploads.append(upload, 30)
        expect(await prepared(upload, { bytes: 29, length: 29 })).toBe('invalid_parameter')
        expect(await prepared(upload, { bytes: 40, length: 40 })).toBe('ok')
        expect(await uploads.find(upload)).toMatchObject({ length: 40, offset: 30 })
        expect(await account.usage()).toMatchObject({ reserved: 40 })
        expect(await prepared(upload, { bytes: 40, length: 40 })).toBe('ok')
        const other = await refusalOf(uploads.prepare(upload, { bytes: 41, length: 41 }))
        expect(other).toMatchObject({
          code: 'invalid_parameter',
          facts: { parameter: 'Upload-Length' },
        })
        await sums()
      })

      it('declares a digest once, and refuses another', async () => {
        const upload = await uploads.create('a', 10)
        const [sha256, other] = ['a'.repeat(64), 'b'.repeat(64)]
        expect(await prepared(upload, { bytes: 10, sha256 })).toBe('ok')
        expect(await uploads.find(upload)).toMatchObject({ expectedSha256: sha256, length: 10 })
        expect(await prepared(upload, { bytes: 10, sha256 })).toBe('ok')
        expect(await prepared(upload, { bytes: 10 })).toBe('ok')
        expect(
          await refusalOf(uploads.prepare(upload, { bytes: 10, sha256: other })),
        ).toMatchObject({ code: 'invalid_parameter', facts: { parameter: 'Repr-Digest' } })
        expect(await uploads.find(upload)).toMatchObject({ expectedSha256: sha256 })
        await sums()
      })

      it('R27 declares nothing to an append that is running', async () => {
        const upload = await uploads.create('a')
        const { upload: claimed } = await uploads.hold(upload)
        expect(await prepared(upload, { bytes: 1, length: 1 })).toBe('upload_busy')
        expect(await prepared(upload, { bytes: 17, sha256: 'a'.repeat(64) })).toBe('upload_busy')
        expect(await prepared(upload, { bytes: 17 })).toBe('ok')
        expect(await uploads.record(claimed, { offset: 17 })).toBe(true)
        const untold = { length: undefined, expectedSha256: undefined, offset: 17 }
        expect(await uploads.find(upload)).toMatchObject(untold)
        expect(await prepared(upload, { bytes: 20, length: 20 })).toBe('ok')
        await sums()
      })

      it('R28 holds a deferred length to what unfinished uploads may announce', async () => {
        await account.put('a', 90)
        await uploads.create('b', 10)
        const upload = await uploads.create('a')
        expect(await prepared(upload, { bytes: 90 })).toBe('ok')
        await account.grant('gift', 1)
        await account.put('a', 91)
        await account.grant('gift', 0)
        const refused = prepared(upload, { bytes: 91, length: 91 })
        expect(await refused).toBe('unfinished_uploads_exceeded')
        expect(await measureUnfinished()).toEqual({ count: 2, bytes: 100 })
        expect(await uploads.find(upload)).toMatchObject({ length: undefined })
      })

      it('says how an upload has ended, and knows none of others', async () => {
        const [finished, cancelled, lost, expired] = [
          await uploads.create('a', 0),
          await uploads.create('b', 1),
          await uploads.create('c', 1),
          await uploads.create('d', 1, { emptyLifetimeMs: 0 }),
        ]
        await account.commit(finished.version, 0)
        for (const each of [cancelled, lost]) await uploads.hold(each)
        await uploads.abort(cancelled, { endedAs: 'cancelled' })
        await uploads.abort(lost, { endedAs: 'lost' })
        const outcome = async (upload: typeof finished): Promise<unknown> =>
          (await refusalOf(uploads.prepare(upload, { bytes: 1 }))).facts['outcome']
        const outcomes = [cancelled, lost, expired].map(outcome)
        expect(await Promise.all(outcomes)).toEqual(['cancelled', 'lost', 'expired'])
        expect((await refusalOf(uploads.prepare(lost, {}))).code).toBe('upload_gone')
        expect((await refusalOf(uploads.prepare(finished, {}))).code).toBe('upload_busy')
        const neighbour = resumablesOf(harness.ledger, await openAccount(harness))
        const others = await uploads.create('e', 1)
        expect(await outcomeOf(neighbour.prepare(others, { bytes: 1 }))).toBe('not_found')
      })
    })

    it('keeps the length that was declared, against any record', async () => {
      const upload = await uploads.create('a', 8)
      const { upload: claimed } = await uploads.hold(upload)
      const beyond = { offset: 9 }
      const short = { offset: 7, sealed: { digest: undefined } }
      for (const record of [beyond, short]) {
        const recorded = uploads.record(claimed, record)
        await expect(recorded).rejects.not.toMatchObject({ code: 'unavailable' })
      }
      expect(await uploads.find(upload)).toMatchObject({ offset: 0, state: 'open' })
    })
  })
}
