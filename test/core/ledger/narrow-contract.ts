import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Version } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  outcomeOf,
  refusalOf,
} from './fixture.ts'
import { type Resumables, resumablesOf } from './resumable/fixture.ts'

const MIB = 2 ** 20
const camera = { credential: 'camera' }

/** What uploads of narrow credentials take from an account. Each user has a capacity of 100 bytes. */
export function ledgerNarrowContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`uploads of narrow credentials on ${name}`, () => {
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

    const audited = async () => {
      const usage = await account.usage()
      expect(usage).toMatchObject(await harness.audit(account.userId))
      return usage
    }

    describe('with a single request', () => {
      it('reserve nothing at first, and leave the owner the room', async () => {
        const version = await account.begin('film', 100, camera)
        expect(await audited()).toMatchObject({ used: 0, reserved: 0 })
        await account.put('note', 5)
        expect(await outcomeOf(account.commit(version, 96))).toBe('capacity_exceeded')
        await account.commit(version, 95)
        expect(await audited()).toMatchObject({ used: 100, reserved: 0 })
      })

      it('are refused at once if they cannot fit', async () => {
        await account.put('note', 50)
        const refused = await refusalOf(account.begin('film', 51, camera))
        expect(refused).toMatchObject({ code: 'capacity_exceeded', facts: { available: 50 } })
      })

      it('reserve what has arrived, which others then leave to them', async () => {
        const version = await account.begin('film', 100, camera)
        await account.extend(version, 60)
        expect(await audited()).toMatchObject({ reserved: 60 })
        expect(await outcomeOf(account.put('note', 41))).toBe('capacity_exceeded')
        await account.put('note', 40)
        expect(await outcomeOf(account.extend(version, 61))).toBe('capacity_exceeded')
        await account.commit(version, 60)
        expect(await audited()).toMatchObject({ used: 100, reserved: 0 })
      })

      it('take nothing at their commit that others have reserved', async () => {
        const version = await account.begin('film', 60, camera)
        const note = await account.begin('note', 50)
        expect(await outcomeOf(account.commit(version, 60))).toBe('capacity_exceeded')
        await account.commit(note, 50)
        await account.commit(version, 50)
        expect(await audited()).toMatchObject({ used: 100 })
      })

      it('are a quarter of the running uploads for each, and not the last tenth for all', async () => {
        const limited = account.through(harness.with({ limits: { maxUploads: 12 } }).ledger)
        const begin = (each: string, credential?: string) => limited.begin(each, 1, { credential })
        for (let index = 0; index < 3; index++) await begin(`camera-${index}`, 'camera')
        expect(await refusalOf(begin('camera-3', 'camera'))).toMatchObject({
          code: 'too_many_requests',
          message: 'This access token or link already has its share of 3 uploads in progress.',
        })
        for (const each of ['phone', 'scanner']) {
          for (let index = 0; index < 3; index++) await begin(each + index, each)
        }
        await begin('link-0', 'link')
        expect(await refusalOf(begin('link-1', 'link'))).toMatchObject({
          code: 'too_many_requests',
          message:
            'This user already has 10 uploads in progress; the rest is reserved for access tokens without a scope.',
        })
        await begin('own-1')
        await begin('own-2')
        expect(await outcomeOf(begin('own-3'))).toBe('too_many_requests')
      })

      it('leave the last tenth of the files to others', async () => {
        const limited = account.through(harness.with({ limits: { maxFiles: 10 } }).ledger)
        for (let index = 0; index < 8; index++) await account.put(`old-${index}`, 0)
        const last = await limited.begin('last', 0, camera)
        const late = await limited.begin('late', 0, camera)
        await limited.commit(last, 0)
        expect(await outcomeOf(limited.commit(late, 0))).toBe('file_count_exceeded')
        expect(await refusalOf(limited.begin('new', 0, camera))).toMatchObject({
          code: 'file_count_exceeded',
          facts: { max_files: 9 },
        })
        await limited.begin('last', 0, camera)
        await limited.put('own', 0)
      })

      it('leave others room for their garbage', async () => {
        await account.grant('more', 40 * MIB)
        await account.put('film', 33 * MIB)
        await account.remove('film')
        expect(await outcomeOf(account.begin('next', 1, camera))).toBe('ok')
        await account.grant('more', 20 * MIB)
        expect(await refusalOf(account.begin('next', 1, camera))).toMatchObject({
          code: 'too_many_requests',
          facts: { retry_after: LONG_MS / 1000 },
        })
        expect(await outcomeOf(uploads.create('next', 1, camera))).toBe('too_many_requests')
        await account.put('next', 1)
      })

      it.each([1, 20])(
        'leave others half of the capacity when they replace %d files at the same time',
        async (count) => {
          await account.grant('more', 100 * MIB)
          const names = Array.from({ length: count }, (_, index) => `film-${index}`)
          const size = (90 * MIB) / count
          const begin = async (each: string) => {
            const outcome = account.begin(each, size, camera)
            return (await outcomeOf(outcome)) === 'ok' ? [await outcome] : []
          }
          for (const each of names) await account.put(each, size)
          for (let round = 0; round < 5; round += 1) {
            const begun: Version[] = []
            for (const each of names) begun.push(...(await begin(each)))
            for (const version of begun) {
              const outcome = await outcomeOf(account.commit(version, size))
              expect(['ok', 'too_many_requests']).toContain(outcome)
              if (outcome !== 'ok') await account.abort(version)
            }
          }
          expect((await audited())?.used).toBe(90 * MIB)
          expect((await harness.garbageBytes(account.userId)).recorded).toBeGreaterThan(64 * MIB)
          for (const each of names.slice(count / 2)) await account.remove(each)
          await account.put('own', 45 * MIB)
        },
      )
    })

    describe('in several requests', () => {
      it('reserve and announce nothing at first', async () => {
        await uploads.create('film', 100, camera)
        expect(await audited()).toMatchObject({ reserved: 0 })
        expect(await harness.ledger.measureUnfinished(account.userId)).toEqual({
          count: 1,
          bytes: 0,
        })
        await uploads.create('own', 100)
        expect(await outcomeOf(uploads.create('other', 1, camera))).toBe('capacity_exceeded')
        expect(await outcomeOf(uploads.create('other', 101, camera))).toBe('capacity_exceeded')
      })

      it('reserve and announce what has arrived', async () => {
        const film = await uploads.create('film', 80, camera)
        await uploads.prepare(film, { bytes: 80, reserved: 0 })
        expect(await account.usage()).toMatchObject({ reserved: 0 })
        await uploads.prepare(film, { bytes: 30 })
        await uploads.append(film, 30)
        expect(await audited()).toMatchObject({ reserved: 30 })
        expect(await harness.ledger.measureUnfinished(account.userId)).toMatchObject({ bytes: 30 })
        await account.put('note', 50)
        const refused = await refusalOf(uploads.prepare(film, { bytes: 80, reserved: 30 }))
        expect(refused).toMatchObject({ code: 'capacity_exceeded' })
        await account.remove('note')
        await uploads.prepare(film, { bytes: 80, reserved: 30 })
        await uploads.prepare(film, { bytes: 80 })
        await uploads.append(film, 80)
        await account.commit(film.version, 80)
        expect(await audited()).toMatchObject({ used: 80, reserved: 0 })
      })

      it('are a quarter of the unfinished uploads for each, and not the last tenth for all', async () => {
        const limited = uploads.through(harness.with({ limits: { maxUnfinished: 8 } }).ledger)
        const create = (each: string, credential?: string) =>
          limited.create(each, 1, { credential })
        await create('a', 'camera')
        await create('b', 'camera')
        expect(await refusalOf(create('c', 'camera'))).toMatchObject({
          code: 'unfinished_uploads_exceeded',
          facts: { max_unfinished_uploads: 2 },
        })
        for (const each of ['d', 'e', 'f', 'g']) await create(each)
        await create('h', 'phone')
        expect(await refusalOf(create('i', 'phone'))).toMatchObject({
          code: 'unfinished_uploads_exceeded',
          facts: { max_unfinished_uploads: 7 },
        })
        await create('j')
        expect(await outcomeOf(create('k'))).toBe('unfinished_uploads_exceeded')
      })

      it('tell which narrow credential has created them', async () => {
        const created = await uploads.create('film', 1, camera)
        expect(created).toMatchObject(camera)
        expect(await uploads.find(created)).toMatchObject(camera)
        expect(await uploads.create('own', 1)).toMatchObject({ credential: undefined })
      })
    })
  })
}
