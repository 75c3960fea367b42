import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { NEVER } from '../../../src/core/files/file.ts'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import type { CommittedUpload } from '../../../src/core/uploads/upload-ledger.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import {
  type Account,
  LONG_MS,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  refusalOf,
} from './fixture.ts'

const SOON_MS = 300

function refusedOnly(error: unknown): undefined {
  if (!isAppError(error)) throw error
}

/** Files that make room for others, and files that end by themselves. */
export function ledgerRetentionContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`retention of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50, baseCapacity: 100 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const cam = parseFileNamePrefix('cam-')
    const names = async () => (await account.list()).map((file) => file.name)
    const events = async () => {
      const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 100 })
      return (read?.changes ?? []).flatMap((change) =>
        'file' in change ? [`${change.type} ${change.file.name}`] : [],
      )
    }
    const garbage = async () => (await harness.keys(account.userId)).garbage.length
    /** In the order of their times. */
    const fill = async (...sizes: readonly (readonly [name: string, size: number])[]) => {
      for (const [each, size] of sizes) {
        await account.put(each, size)
        await harness.advance(2)
      }
    }
    const record = async (
      upload: string,
      size: number,
      { evict = cam, ...options }: Parameters<Account['begin']>[2] = {},
    ): Promise<CommittedUpload> => {
      const version = await account.begin(upload, size, { evict, ...options })
      return await account.commit(version, size, { evict, ...options })
    }
    const audited = async () => {
      const usage = await account.usage()
      expect(usage).toMatchObject(await harness.audit(account.userId))
      return usage
    }

    describe('an upload that evicts', () => {
      it('ends the oldest files of its prefix until it fits, and no other', async () => {
        await fill(['cam-1', 30], ['other', 10], ['cam-2', 30], ['cam-3', 30])
        const { evicted, replaced, usage } = await record('cam-4', 40)
        expect({ evicted, replaced }).toEqual({ evicted: { files: 2, bytes: 60 }, replaced: false })
        expect(usage).toMatchObject({ used: 80, reserved: 0, fileCount: 3 })
        expect(await names()).toEqual(['cam-3', 'cam-4', 'other'])
        expect((await events()).slice(-3)).toEqual([
          'file.evicted cam-1',
          'file.evicted cam-2',
          'file.created cam-4',
        ])
        expect(await account.past()).toEqual([])
        expect(await garbage()).toBe(2)
        await audited()
      })

      it('goes by the time of the last change', async () => {
        await fill(['cam-1', 50], ['cam-2', 50])
        await account.change('cam-2', { visibility: 'public' })
        await account.change('cam-1', { metadata: { a: 'b' } })
        await record('cam-3', 50)
        expect(await names()).toEqual(['cam-1', 'cam-3'])
      })

      it('is refused with what could be evicted, and has evicted nothing', async () => {
        await fill(['cam-1', 30], ['other', 60])
        const refused = await refusalOf(account.begin('cam-2', 41, { evict: cam }))
        expect(refused).toMatchObject({
          code: 'capacity_exceeded',
          facts: { capacity: 100, used: 90, requested: 41, available: 10, evictable: 30 },
        })
        const plain = await refusalOf(account.begin('cam-2', 41))
        expect(plain.facts).not.toHaveProperty('evictable')
        const version = await account.begin('cam-2', 40, { evict: cam })
        const grown = account.commit(version, 41, { evict: cam })
        expect(await refusalOf(grown)).toMatchObject({ facts: { evictable: 30 } })
        await account.abort(version)
        expect(await names()).toEqual(['cam-1', 'other'])
        expect(await audited()).toMatchObject({ used: 90, reserved: 0 })
      })

      it('needs room for the file and for its bytes', async () => {
        await fill(['cam-1', 10], ['other', 80])
        const full = account.through(harness.with({ limits: { maxFiles: 2 } }).ledger)
        const refused = await refusalOf(full.begin('cam-2', 30, { evict: cam }))
        expect(refused).toMatchObject({ code: 'capacity_exceeded', facts: { evictable: 10 } })
      })

      it('is refused for its bytes where only the number of files can be made room for', async () => {
        await fill(['cam-1', 10], ['cam-2', 10], ['other', 70])
        const full = account.through(harness.with({ limits: { maxFiles: 3 } }).ledger)
        expect(await refusalOf(full.begin('cam-3', 31, { evict: cam }))).toMatchObject({
          code: 'capacity_exceeded',
          facts: { evictable: 20 },
        })
        const version = await full.begin('cam-3', 30, { evict: cam })
        expect(await refusalOf(full.commit(version, 31, { evict: cam }))).toMatchObject({
          code: 'capacity_exceeded',
          facts: { evictable: 20 },
        })
      })

      it('grows with its body', async () => {
        await fill(['cam-1', 90])
        const version = await account.begin('cam-2', 0, { evict: cam })
        const extended = (bytes: number) =>
          harness.ledger.extend({ ...account, version, bytes, evict: cam })
        await extended(100)
        expect(await refusalOf(extended(101))).toMatchObject({ facts: { evictable: 90 } })
        await account.commit(version, 100, { evict: cam })
        expect(await names()).toEqual(['cam-2'])
      })

      it('answers its repetition in the same way', async () => {
        await fill(['cam-1', 90])
        const version = await account.begin('cam-2', 50, { evict: cam })
        const first = await account.commit(version, 50, { evict: cam })
        expect(await account.commit(version, 50, { evict: cam })).toEqual(first)
        expect(await names()).toEqual(['cam-2'])
      })

      it('evicts at most 1,000 files', async () => {
        await account.grant('more', 1_100)
        for (let first = 0; first < 1_200; first += 100) {
          const some = Array.from({ length: 100 }, (_, at) => `cam-${first + at}`)
          await Promise.all(
            some.map(async (each) => account.commit(await account.begin(each, 1), 1)),
          )
        }
        const refused = await refusalOf(account.begin('other', 1_001, { evict: cam }))
        expect(refused.facts).toMatchObject({ evictable: 1_000, used: 1_200 })
        const { evicted } = await record('other', 1_000)
        expect(evicted).toEqual({ files: 1_000, bytes: 1_000 })
        expect(await audited()).toMatchObject({ used: 1_200, fileCount: 201 })
        const read = await harness.ledger.readChanges({ ...account, after: 1_200, limit: 1_001 })
        const sequences = read?.changes.map(({ sequence }) => sequence)
        expect(sequences).toEqual(Array.from({ length: 1_001 }, (_, at) => 1_201 + at))
      }, 60_000)

      it('evictions by many uploads at two instances never exceed the capacity, nor lose a kept file', async () => {
        const sizes = fc.array(
          fc.record({
            name: fc.integer({ min: 0, max: 12 }).map((at) => `cam-${at}`),
            size: fc.integer({ min: 0, max: 60 }),
            evicts: fc.boolean(),
          }),
          { minLength: 4, maxLength: 24 },
        )
        await fc.assert(
          fc.asyncProperty(sizes, async (uploads) => {
            const own = await openAccount(harness)
            await own.put('cam-kept', 20)
            await own.change('cam-kept', { isKept: true })
            const twins = [own, own.through(harness.other)]
            await Promise.all(
              uploads.map(async ({ name: each, size, evicts }, at) => {
                const by = twins[at % 2] ?? own
                const options = evicts ? { evict: cam } : {}
                const begun = await by.begin(each, size, options).catch(refusedOnly)
                if (begun !== undefined) {
                  await by.commit(begun, size, options).catch(refusedOnly)
                  await by.abort(begun)
                }
                expect((await own.usage())?.used).toBeLessThanOrEqual(100)
              }),
            )
            const usage = await own.usage()
            expect(usage).toMatchObject({ ...(await harness.audit(own.userId)), reserved: 0 })
            expect(usage?.used).toBeLessThanOrEqual(100)
            expect(await own.size('cam-kept')).toBe(20)
          }),
          { numRuns: 10 },
        )
      }, 60_000)
    })

    describe('an expiry', () => {
      const expiring = (each: string, size: number, options = {}) =>
        account.put(each, size, { expiresInMs: SOON_MS, ...options })
      const over = () => harness.advance(SOON_MS + 10)
      const expire = () => harness.ledger.expireFiles({ userId: account.userId, limit: 100 })

      it('ends the file for everybody, and the sweep frees its bytes', async () => {
        const expiresInMs = 1_000
        const { file } = await expiring('a', 30, { expiresInMs })
        await account.put('b', 10)
        expect(file.expiresAt).toBe(file.updatedAt + expiresInMs)
        expect(await names()).toEqual(['a', 'b'])
        await harness.advance(expiresInMs + 10)
        expect(await account.size('a')).toBeUndefined()
        for (const order of ['name', '-size', 'updated_at'] as const) {
          expect((await account.list({ order })).map((each) => each.name)).toEqual(['b'])
        }
        expect(await outcomeOf(account.remove('a'))).toBe('not_found')
        expect(await outcomeOf(account.change('a', { newName: 'c' }))).toBe('not_found')
        expect(await account.usage()).toMatchObject({ used: 40, fileCount: 2 })
        const users = await harness.ledger.listUsersWithExpired({ except: [], limit: 100 })
        expect(users).toContain(account.userId)
        expect(await expire()).toBe(1)
        expect(await expire()).toBe(0)
        expect(await audited()).toMatchObject({ used: 10, fileCount: 1 })
        expect((await events()).at(-1)).toBe('file.expired a')
        expect(await account.past()).toEqual([])
        expect(await garbage()).toBe(1)
      })

      it('frees the name before that', async () => {
        await expiring('a', 30, { visibility: 'public' })
        await account.change('a', { isKept: true })
        await over()
        const version = await account.begin('a', 90, { precondition: { ifNoneMatch: '*' } })
        expect(await account.usage()).toMatchObject({ used: 30, reserved: 60 })
        const { file, replaced } = await account.commit(version, 90, {
          precondition: { ifNoneMatch: '*' },
        })
        expect(replaced).toBe(false)
        expect(file).toMatchObject({ visibility: 'private', expiresAt: NEVER, isKept: 0 })
        expect(file.createdAt).toBe(file.updatedAt)
        expect((await events()).slice(-2)).toEqual(['file.expired a', 'file.created a'])
        expect(await audited()).toMatchObject({ used: 90, reserved: 0, fileCount: 1 })
      })

      it('frees it for a rename and a restore', async () => {
        const { file: past } = await account.put('a', 1)
        await account.remove('a')
        await expiring('a', 10)
        await expiring('b', 10)
        await account.put('c', 5)
        await over()
        await account.change('c', { newName: 'b' })
        expect(await account.restore(past.version)).toMatchObject({ replaced: false })
        expect(await names()).toEqual(['a', 'b'])
        expect(await audited()).toMatchObject({ used: 6, fileCount: 2 })
        expect((await events()).slice(-4)).toEqual([
          'file.expired b',
          'file.renamed b',
          'file.expired a',
          'file.restored a',
        ])
      })

      it('is of the content: an overwrite has its own, or none, and keeps what is kept', async () => {
        await account.put('a', 10, { expiresInMs: LONG_MS })
        await account.change('a', { isKept: true })
        expect((await account.put('a', 20)).file).toMatchObject({ expiresAt: NEVER, isKept: 1 })
        const { file } = await account.put('a', 30, { expiresInMs: LONG_MS })
        // The clocks of the test and of the database round.
        expect(Math.abs(file.expiresAt - harness.now() - LONG_MS)).toBeLessThanOrEqual(1)
        expect((await account.list())[0]).toEqual(file)
      })

      it('is set and ended by an update, which is told', async () => {
        const { file } = await account.put('a', 10)
        const expiresAt = file.updatedAt + LONG_MS
        expect(await account.change('a', { expiresAt })).toMatchObject({ expiresAt })
        expect(await account.change('a', { expiresAt: NEVER })).toMatchObject({ expiresAt: NEVER })
        await account.change('a', { isKept: true })
        await account.change('a', { isKept: true })
        expect(await events()).toEqual([
          'file.created a',
          ...Array.from({ length: 3 }, () => 'file.updated a'),
        ])
        const past = account.change('a', { expiresAt: file.updatedAt })
        expect(await refusalOf(past)).toMatchObject({
          code: 'invalid_parameter',
          facts: { parameter: 'expires_at' },
        })
      })

      it('is swept for suspended users, and left to the purge of deleted ones', async () => {
        await expiring('a', 10)
        await over()
        await harness.users.setUserStatus(account.userId, 'suspended')
        expect(await expire()).toBe(1)
        await harness.users.setUserStatus(account.userId, 'active')
        await expiring('b', 10)
        await over()
        await harness.users.deleteUser(account.userId)
        const users = await harness.ledger.listUsersWithExpired({ except: [], limit: 100 })
        expect(users).not.toContain(account.userId)
        expect(await expire()).toBe(0)
      })
    })
  })
}
