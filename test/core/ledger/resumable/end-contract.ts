import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PendingUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import { createVersion, objectKey, type Version } from '../../../../src/core/objects/object-key.ts'
import {
  type Account,
  accountOf,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  refusalOf,
} from '../fixture.ts'
import { part, type Resumables, resumablesOf, tailPiece } from './fixture.ts'

/** What an ended upload counts as garbage. */
const OVERHEAD = 4096

/** The garbage that is always allowed. */
const LEAST_GARBAGE = 64 * 2 ** 20

const SOON_MS = 500

/** The rules of the port `ResumableLedger` on what is told of uploads, and on how they end. */
export function resumableEndContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`the end of resumable uploads in the ledger on ${name}`, () => {
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
    const listResumables = (limit = 10) =>
      harness.ledger.listResumables({ userId: account.userId, after: undefined, limit })
    const expectGarbage = async (bytes: number): Promise<void> => {
      const figures = { recorded: bytes, counted: bytes }
      expect(await harness.garbageBytes(account.userId)).toEqual(figures)
    }
    const expectForgotten = async ({ version }: { readonly version: Version }): Promise<void> => {
      const { userId } = account
      expect(await harness.ledger.findResumable({ userId, version })).toBeUndefined()
      expect(await harness.audit(userId)).toMatchObject({ reserved: 0 })
    }
    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
    }

    describe('what is told', () => {
      it('is nothing of an upload of another user, an older one of the id, or none', async () => {
        const { version } = await uploads.create('a', 1)
        await account.begin('plain', 1)
        const neighbour = await openAccount(harness)
        const { ledger } = harness
        const { userId, userCreatedAt } = account
        expect(await ledger.findResumable({ ...neighbour, version })).toBeUndefined()
        const later = { userId, userCreatedAt: userCreatedAt + 1 }
        expect(await ledger.findResumable({ ...later, version })).toBeUndefined()
        expect(await ledger.findResumable({ userId, version: createVersion() })).toBeUndefined()
        expect(await ledger.findResumable({ userId, version })).toMatchObject({ version })
        const page = { after: undefined, limit: 10 }
        expect(await ledger.listResumables({ ...later, ...page })).toEqual([])
      })

      it('is every unfinished upload, oldest first, in pages', async () => {
        const create = (name: string, length: number, options = {}) =>
          // Versions of one millisecond have no order.
          uploads.create(name, length, { version: createVersion((began += 1)), ...options })
        let began = Date.now()
        const a = await create('a', 1)
        const b = await create('b', 0)
        const c = await create('c', 2)
        await create('d', 1, { emptyLifetimeMs: 0 })
        const e = await create('e', 3)
        await account.commit(b.version, 0)
        const listed = await listResumables()
        expect(listed).toEqual([a, c, e])
        expect(await listResumables(2)).toEqual(listed.slice(0, 2))
        const rest = { userId: account.userId, after: a.version, limit: 1 }
        expect(await harness.ledger.listResumables(rest)).toEqual([listed[1]])
        expect(await measureUnfinished()).toEqual({ count: 3, bytes: 6 })
      })

      it('is, of all users, what is pending, expired or not, and whether a request works on it', async () => {
        let began = Date.now()
        const next = () => {
          const version = createVersion((began += 1))
          return { version, objectKey: objectKey(account.userId, version) }
        }
        const running = await account.begin('a', 7, next())
        const { ledger } = harness.with({ times: { leaseMs: 0 } })
        const expired = await account.through(ledger).begin('b', 7, next())
        const waiting = await uploads.create('c', 30, next())
        const held = await uploads.create('d', 31, next())
        await uploads.hold(held)
        const deferred = await uploads.create('e', undefined, { ...next(), emptyLifetimeMs: 0 })
        await uploads.abort(await uploads.create('f', 1, next()))
        const { version: committed } = await uploads.create('g', 0, next())
        await account.commit(committed, 0)
        const found: PendingUpload[] = []
        let after: Version | undefined
        do {
          const page = await harness.ledger.listPendingUploads({ after, limit: 2 })
          expect(page.length).toBeLessThanOrEqual(2)
          found.push(...page)
          after = page.at(-1)?.version
        } while (after !== undefined)
        const { userId } = account
        const upload = (version: Version, name: string) => {
          const key = objectKey(userId, version)
          return { userId, version, name, objectKey: key, length: undefined, isRunning: false }
        }
        expect(found.filter((each) => each.userId === userId)).toEqual([
          { ...upload(running, 'a'), isRunning: true },
          upload(expired, 'b'),
          { ...upload(waiting.version, 'c'), length: 30 },
          { ...upload(held.version, 'd'), length: 31, isRunning: true },
          upload(deferred.version, 'e'),
        ])
      })

      it('is nothing any more of one that is forgotten, whose reservation is released', async () => {
        const upload = await uploads.create('a', 20)
        const tailKey = uploads.tailKey()
        const claim = await uploads.hold(upload, { tailKey })
        const pieces = [tailPiece(0, { size: 5, key: tailKey })]
        await uploads.record(claim.upload, { offset: 5, pieces })
        expect(await uploads.abort(upload, { isUntouched: true })).toBe('forgotten')
        const { userId } = account
        const { version } = upload
        expect(await harness.ledger.findResumable({ userId, version })).toBeUndefined()
        expect(await harness.ledger.listPieces(version)).toEqual([])
        expect(await account.usage()).toMatchObject({ reserved: 0 })
        expect(await uploads.abort(upload)).toBe('aborted')
        await sums()
      })

      it('is how many there are of all users, and what they announce, apart from other uploads', async () => {
        const before = await harness.ledger.measureJournal(1000)
        await account.put('a', 20)
        await uploads.create('a', 30)
        await uploads.create('b')
        await uploads.create('c', 5, { emptyLifetimeMs: 0 })
        await account.begin('d', 7)
        await uploads.abort(await uploads.create('e', 1))
        expect(await harness.ledger.measureJournal(1000)).toEqual({
          ...before,
          reservations: before.reservations + 1,
          reservedBytes: before.reservedBytes + 7,
          unfinishedUploads: before.unfinishedUploads + 3,
          unfinishedBytes: before.unfinishedBytes + 35,
        })
      })

      it('is the current file of a version, under whatever name', async () => {
        const upload = await uploads.create('a', 5)
        const named = { userId: account.userId, version: upload.version }
        expect(await harness.ledger.findVersion(named)).toBeUndefined()
        const { file } = await account.commit(upload.version, 5)
        await account.change('a', { newName: 'b' })
        expect(await harness.ledger.findVersion(named)).toMatchObject({
          ...file,
          name: 'b',
          updatedAt: expect.any(Number) as unknown,
          modifiedAt: expect.any(Number) as unknown,
        })
        const later = { ...named, userCreatedAt: account.userCreatedAt + 1 }
        expect(await harness.ledger.findVersion(later)).toBeUndefined()
        await account.put('b', 1)
        expect(await harness.ledger.findVersion(named)).toBeUndefined()
      })
    })

    describe('the end', () => {
      it('is told until the sweeper forgets the upload with all its rows', async () => {
        const upload = await uploads.create('a', 16)
        const { upload: claimed } = await uploads.hold(upload)
        await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
        await uploads.abort(upload, { endedAs: 'lost' })
        expect(await uploads.find(upload)).toMatchObject({ state: 'lost', offset: 8 })
        expect(await account.usage()).toMatchObject({ reserved: 0 })
        await harness.advance(5)
        const { ledger } = harness.with({ times: { retentionMs: 0 } })
        const removed = await ledger.listAbortedUploads({ after: undefined, limit: 1000 })
        const { userId } = account
        await ledger.noteAbortedRemovals({ userId, removed, failed: [] })
        const named = { userId: account.userId, version: upload.version }
        expect(await harness.ledger.findResumable(named)).toBeUndefined()
        expect(await harness.ledger.listPieces(upload.version)).toEqual([])
      })

      it('is finished by a commit, whose file it tells until it is forgotten', async () => {
        const upload = await uploads.create('a', 8)
        await uploads.append(upload, 8)
        expect(await uploads.find(upload)).toMatchObject({ state: 'sealed' })
        await account.commit(upload.version, 8)
        expect(await uploads.find(upload)).toMatchObject({ state: 'finished', offset: 8 })
        expect(await uploads.abort(upload)).toBe('committed')
        expect(await uploads.find(upload)).toMatchObject({ state: 'finished' })
        await harness.advance(5)
        await harness.with({ times: { retentionMs: 0 } }).ledger.forgetUploads({ limit: 1000 })
        const named = { userId: account.userId, version: upload.version }
        expect(await harness.ledger.findResumable(named)).toBeUndefined()
      })

      it('comes with the lease, and then the sweeper aborts what has expired', async () => {
        const created = await uploads.create('a', 8, { emptyLifetimeMs: 0 })
        expect(await uploads.find(created)).toMatchObject({ state: 'expired' })
        const upload = await uploads.create('b', 8, { maxLifetimeMs: SOON_MS })
        await uploads.hold(upload)
        await harness.advance(SOON_MS)
        expect(await uploads.find(upload)).toMatchObject({ state: 'expired' })
        expect(await account.usage()).toMatchObject({ reserved: 16 })
        await uploads.abort(created)
        const expired = await harness.ledger.listExpiredUploads({ limit: 1000 })
        expect(expired).toContainEqual({ userId: account.userId, version: upload.version })
        expect(await uploads.abort(upload, { expiredOnly: true })).toBe('aborted')
        expect(await uploads.find(upload)).toMatchObject({ state: 'expired' })
        expect(await account.usage()).toMatchObject({ reserved: 0 })
        await sums()
      })

      it.each([
        ['cancelled', { endedAs: 'cancelled' }],
        ['expired', { expiredOnly: true }],
      ] as const)('forgets a %s upload that no append has claimed', async (_end, options) => {
        const upload = await uploads.create('a', 20, { emptyLifetimeMs: 0 })
        expect(await uploads.abort(upload, options)).toBe('forgotten')
        await expectForgotten(upload)
        expect(await uploads.abort(upload, options)).toBe('aborted')
      })

      it('forgets the uploads of a deleted user that no append has claimed', async () => {
        const [upload, claimed] = [await uploads.create('a', 20), await uploads.create('b', 20)]
        await uploads.hold(claimed)
        await harness.users.deleteUser(account.userId)
        const purge = { userId: account.userId, limit: 100 }
        expect(await harness.ledger.purgeDeletedUsers(purge)).toBe(2)
        expect(await harness.journal(account.userId)).toEqual([claimed.version])
        await expectForgotten(upload)
      })

      it('keeps small rows of other uploads, which count as garbage until they are forgotten', async () => {
        const precondition = { ifNoneMatch: ['x'.repeat(100)] }
        const upload = await uploads.create('a', 20, { precondition })
        const { upload: claimed } = await uploads.hold(upload)
        await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
        const plain = await account.begin('b', 5)
        await uploads.abort(upload, { endedAs: 'cancelled' })
        await account.abort(plain)
        await expectGarbage(2 * OVERHEAD)
        expect(await uploads.find(upload)).toMatchObject({
          state: 'cancelled',
          metadata: '',
          precondition: undefined,
        })
        expect(await harness.ledger.listPieces(upload.version)).toEqual([])
        await harness.advance(5)
        const { ledger } = harness.with({ times: { retentionMs: 0 } })
        const due = await ledger.listAbortedUploads({ after: undefined, limit: 1000 })
        const { userId } = account
        const removed = due.filter((each) => each.userId === userId)
        expect(removed).toHaveLength(2)
        await ledger.noteAbortedRemovals({ userId, removed, failed: [] })
        await expectGarbage(0)
      })

      it('leaves less room for later uploads until the ended ones are forgotten', async () => {
        await account.grant('whole', LEAST_GARBAGE)
        await account.put('a', LEAST_GARBAGE)
        await account.remove('a')
        await account.grant('whole', 0)
        const refusal = await refusalOf(account.begin('b', 1))
        expect(refusal.facts['retry_after']).toBeGreaterThan(15 * 60)
        await account.grant('whole', LEAST_GARBAGE)
        await account.abort(await account.begin('a', 1))
        await account.grant('whole', 0)
        // The removed file is kept for an hour, but the aborted upload for a quarter of one.
        const sooner = await refusalOf(account.begin('b', 1))
        expect(sooner).toMatchObject({ code: 'too_many_requests' })
        expect(sooner.facts['retry_after']).toBeLessThanOrEqual(15 * 60)
        expect(sooner.facts['retry_after']).toBeGreaterThan(14 * 60)
      })

      it('G02 is not brought about by a restart, which releases it for the next append', async () => {
        const held = await uploads.create('a', 8)
        const { upload: claimed } = await uploads.hold(held, { storeState: '{"intent":1}' })
        const plain = await account.begin('b', 1)
        await harness.ledger.endLeases()
        const found = await uploads.find(held)
        expect(found).toMatchObject({ state: 'open', isHeld: false, storeState: '{"intent":1}' })
        expect(found.holder).toBeUndefined()
        const expired = await harness.ledger.listExpiredUploads({ limit: 1000 })
        const ours = expired.filter(({ userId }) => userId === account.userId)
        expect(ours.map(({ version }) => version)).toEqual([plain])
        expect(await uploads.record(claimed, { offset: 5 })).toBe(false)
        await uploads.hold(held)
      })

      it('R24 is cancelled by the purge of a deleted user, and leaves nothing', async () => {
        const upload = await uploads.create('a', 8)
        const { upload: claimed } = await uploads.hold(upload)
        await harness.users.deleteUser(account.userId)
        const purge = { userId: account.userId, limit: 100 }
        while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
        expect(await uploads.record(claimed, { offset: 4 })).toBe(false)
        expect(await uploads.find(upload)).toMatchObject({ state: 'cancelled' })
        expect(await harness.audit(account.userId)).toMatchObject({ reserved: 0 })
        const next = accountOf({ ...harness, ...account })
        expect(await outcomeOf(next.begin('a', 1))).toBe('access_token_invalid')
      })
    })
  })
}
