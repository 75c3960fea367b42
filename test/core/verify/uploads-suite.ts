import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../../src/database/ledger.ts'
import { objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { never } from '../../support/objects.ts'
import { readUsage } from '../../support/read-usage.ts'
import type { UserUploads } from '../../support/service/resumables.ts'
import { kindsFound, verify } from '../../support/verify.ts'
import { ALICE, BOB, openBed, type OpenVerifyAdapters, type VerifyBed } from './fixture.ts'

const REPAIR = { repair: true }

/** What `verify` finds in unfinished uploads, and what in none of them. */
export function verifyUploadsSuite(name: string, open: OpenVerifyAdapters): void {
  describe(`verify of unfinished uploads on ${name}`, () => {
    let bed: VerifyBed
    let uploads: UserUploads
    beforeEach(async () => {
      bed = await openBed(open)
      uploads = await bed.uploadsOf(ALICE)
    })
    afterEach(() => bed.close())

    /** Removes the bytes that are recorded, wherever they are. */
    async function loseBytes(version: Version): Promise<void> {
      const pieces = await bed.ledger.listPieces(version)
      const keys = pieces.flatMap((piece) => piece.objectKey ?? [])
      for (const key of [objectKey(ALICE, version), ...keys]) {
        await bed.objects.remove({ key, signal: never() })
      }
    }

    const found = async (version: Version, state: unknown) =>
      expect(await bed.ledger.findResumable({ userId: ALICE, version })).toMatchObject({ state })

    it('finds nothing in sound ones, and counts them', async () => {
      const version = await uploads.begin('a', 20, 'hello')
      await uploads.append(version, 5, 'world')
      await uploads.begin('b', 20)
      const other = await bed.uploadsOf(BOB)
      await other.begin('a', 9, 'bob')
      await other.begin('finished', 3, 'bob')
      expect(await verify(bed, REPAIR)).toMatchObject({
        findings: [],
        verification: { users: 2, files: 1, uploads: 3, repaired: 0 },
      })
      expect(await verify(bed, { userId: ALICE })).toMatchObject({ verification: { uploads: 2 } })
      await uploads.append(version, 10, 'and more..')
      expect(await verify(bed)).toMatchObject({
        findings: [],
        verification: { files: 2, uploads: 2 },
      })
    })

    it('finds one whose recorded bytes are lost, and changes nothing', async () => {
      const lost = await uploads.begin('a', 20, 'hello')
      await uploads.begin('b', 20, 'hello')
      await loseBytes(lost)
      const before = await bed.everything()
      expect(await verify(bed)).toMatchObject({
        findings: [
          {
            kind: 'broken_upload',
            userId: ALICE,
            name: 'a',
            objectKey: objectKey(ALICE, lost),
            recorded: 5,
            repaired: false,
          },
        ],
        verification: { uploads: 2, remaining: { broken_upload: 1 } },
      })
      expect(await bed.everything()).toEqual(before)
    })

    it('ends it as lost on request, which releases its reservation, and no other', async () => {
      const lost = await uploads.begin('a', 20, 'hello')
      const kept = await uploads.begin('b', 30, 'hello')
      await loseBytes(lost)
      const { findings, verification } = await verify(bed, REPAIR)
      expect(findings).toMatchObject([{ kind: 'broken_upload', repaired: true }])
      expect(verification).toMatchObject({ repaired: 1, remaining: { broken_upload: 0 } })
      await found(lost, 'lost')
      await found(kept, 'open')
      expect(await readUsage(bed.ledger, ALICE)).toMatchObject({ reserved: 30 })
      expect(await kindsFound(bed)).toEqual([])
      expect(await uploads.append(kept, 5, 'x'.repeat(25))).toMatchObject({ offset: 30 })
      expect(await readUsage(bed.ledger, ALICE)).toMatchObject({ used: 30, reserved: 0 })
    })

    describe('takes for no fault', () => {
      /** Verifies with a store that denies the bytes of all uploads, after `happen`. */
      async function kindsAfter(
        happen: () => Promise<unknown>,
        ledger: Partial<Ledger> = {},
      ): Promise<readonly string[]> {
        const isStored: ObjectStore['isStored'] = async () => {
          await happen()
          return false
        }
        const objects = faultyStore(bed.objects, { isStored })
        return await kindsFound({ ...bed, objects, ledger }, REPAIR)
      }

      it('one that has received more meanwhile', async () => {
        const version = await uploads.begin('a', 20, 'hello')
        expect(await kindsAfter(() => uploads.append(version, 5, 'x'))).toEqual([])
        await found(version, 'open')
      })

      it('one that another append has claimed meanwhile, or fenced', async () => {
        const version = await uploads.begin('a', 20, 'hello')
        const named = { userId: ALICE, version }
        const { epoch = 0 } = (await bed.ledger.findResumable(named)) ?? {}
        const fence = () => bed.ledger.fence({ ...named, epoch })
        expect(await kindsAfter(fence)).toEqual([])
        await found(version, 'open')
      })

      it('one that has become a file meanwhile', async () => {
        const version = await uploads.begin('a', 6, 'hello')
        expect(await kindsAfter(() => uploads.append(version, 5, 'x'))).toEqual([])
        await found(version, 'finished')
      })

      it('one that has become a file when it is to be ended', async () => {
        const version = await uploads.begin('a', 6, 'hello')
        const abort: Ledger['abort'] = async (upload) => {
          await uploads.append(version, 5, 'x')
          return await bed.ledger.abort(upload)
        }
        expect(await kindsAfter(async () => undefined, { abort })).toEqual([])
        await found(version, 'finished')
      })

      it('one that was cancelled meanwhile', async () => {
        const version = await uploads.begin('a', 20, 'hello')
        const cancel = () => bed.ledger.abort({ userId: ALICE, version, endedAs: 'cancelled' })
        expect(await kindsAfter(cancel)).toEqual([])
        await found(version, 'cancelled')
      })
    })
  })
}
