import { callerNamed } from '../../support/caller.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import {
  createVersion,
  objectKey,
  type Version,
  versionOf,
} from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { never } from '../../support/objects.ts'
import { kindsFound, verify } from '../../support/verify.ts'
import {
  ALICE,
  BOB,
  openBed,
  type OpenVerifyAdapters,
  strayKey,
  type VerifyBed,
} from './fixture.ts'
import { readUsage } from '../../support/read-usage.ts'

const REPAIR = { repair: true }
const CAROL = parseUserId('carol')

/** Each kind of damage is found, and mended where that loses nothing. */
export function verifySuite(name: string, open: OpenVerifyAdapters): void {
  describe(`verify on ${name}`, () => {
    let bed: VerifyBed
    beforeEach(async () => {
      bed = await openBed(open)
      await bed.upload(ALICE, 'a', 'hello')
      await bed.upload(ALICE, 'b', 'hi')
      await bed.upload(BOB, 'a', 'bob')
    })
    afterEach(() => bed.close())

    const replaceObject = async (content: string): Promise<string> => {
      const key = await bed.upload(ALICE, 'c', 'right')
      await bed.objects.remove({ key, signal: never() })
      return await bed.stray(key, content)
    }

    it('finds nothing in a sound repository, and counts what it looked at', async () => {
      expect(await verify(bed)).toMatchObject({
        findings: [],
        verification: { users: 2, files: 3, objects: 3, readFiles: 0, repaired: 0 },
      })
      expect(await verify(bed, { userId: BOB })).toMatchObject({
        verification: { users: 1, files: 1, objects: 1 },
      })
    })

    it('finds nothing in uploads under way, aborted ones and garbage', async () => {
      const begin = async (): Promise<Version> => {
        const version = createVersion()
        const key = objectKey(ALICE, version)
        const caller = await callerNamed(bed.users, ALICE)
        const upload = { ...caller, name: parseFileName('x'), version, objectKey: key }
        await bed.ledger.begin({ ...upload, bytes: 5 })
        await bed.stray(key)
        return version
      }
      await begin()
      await bed.ledger.abort({ userId: ALICE, version: await begin() })
      await bed.upload(ALICE, 'a', 'hello again')
      await bed.users.setUserStatus(BOB, 'suspended')
      expect(await verify(bed)).toMatchObject({ findings: [], verification: { objects: 6 } })
    })

    it('finds nothing in a deleted user, nor in the garbage of one that is gone', async () => {
      await bed.users.deleteUser(BOB)
      expect(await kindsFound(bed)).toEqual([])
      const [key, other] = [await bed.stray(strayKey(CAROL)), await bed.stray(strayKey(CAROL))]
      for (const objectKey of [key, other]) {
        await sql`INSERT INTO garbage (object_key, not_before) VALUES (${objectKey}, 0)`.execute(
          bed.database.kysely,
        )
      }
      expect(await kindsFound(bed)).toEqual([])
      expect(await kindsFound(bed, { userId: CAROL })).toEqual([])
    })

    describe.each([
      ['used_bytes', 8],
      ['reserved_bytes', 0],
      ['file_count', 2],
      ['garbage_bytes', 4098],
      ['history_bytes', 4098],
      ['history_count', 1],
      ['history_protected', 0],
    ] as const)('of %s', (figure, right) => {
      beforeEach(async () => {
        // Replaces two bytes twice: the first are garbage, the second past.
        await bed.upload(ALICE, 'b', 'ho')
        await bed.forgetHistory(ALICE)
        await bed.upload(ALICE, 'b', 'hey')
        const db = bed.database.kysely
        await db
          .updateTable('quotas')
          .set({ [figure]: 41 })
          .where('user_id', '=', ALICE)
          .execute()
      })

      it('finds drift, for all and for the user, and changes nothing', async () => {
        const before = await bed.everything()
        const finding = { kind: figure, userId: ALICE, recorded: 41, found: right, repaired: false }
        for (const request of [{}, { userId: ALICE }]) {
          const { findings, verification } = await verify(bed, request)
          expect(findings).toEqual([finding])
          expect(verification.remaining[figure]).toBe(1)
        }
        expect(await kindsFound(bed, { userId: BOB })).toEqual([])
        expect(await bed.everything()).toEqual(before)
      })

      it('mends drift on demand', async () => {
        const { findings, verification } = await verify(bed, REPAIR)
        expect(findings).toMatchObject([{ kind: figure, repaired: true }])
        expect(verification).toMatchObject({ repaired: 1, remaining: { [figure]: 0 } })
        expect(await kindsFound(bed)).toEqual([])
      })
    })

    it('finds devices that count something else than their files, and mends them on demand', async () => {
      await bed.upload(ALICE, 'd', { content: 'hello', deviceId: 'camera' })
      expect(await kindsFound(bed)).toEqual([])
      const db = bed.database.kysely
      await sql`UPDATE device_usage SET used_bytes = 4`.execute(db)
      await sql`INSERT INTO device_usage VALUES (${ALICE}, 'gone', 1, 1)`.execute(db)
      const finding = { kind: 'device_usage', userId: ALICE, found: 2 }
      expect((await verify(bed)).findings).toEqual([{ ...finding, repaired: false }])
      expect(await kindsFound(bed, { userId: BOB })).toEqual([])
      expect((await verify(bed, REPAIR)).findings).toEqual([{ ...finding, repaired: true }])
      expect(await kindsFound(bed)).toEqual([])
      const { rows } =
        await sql`SELECT device_id, used_bytes, file_count FROM device_usage`.execute(db)
      expect(rows).toEqual([{ device_id: 'camera', used_bytes: 5, file_count: 1 }])
    })

    it('finds a user without a quota, and gives one on demand', async () => {
      await bed.users.createUser(CAROL)
      await sql`DELETE FROM quotas WHERE user_id = ${CAROL}`.execute(bed.database.kysely)
      expect((await verify(bed)).findings).toEqual([
        { kind: 'missing_quota', userId: CAROL, repaired: false },
      ])
      await verify(bed, REPAIR)
      expect(await kindsFound(bed)).toEqual([])
      expect(await readUsage(bed.ledger, CAROL)).toMatchObject({
        used: 0,
        reserved: 0,
        fileCount: 0,
      })
    })

    it('finds a file whose object is missing, and never touches its row', async () => {
      const key = await bed.upload(ALICE, 'c', 'gone')
      await bed.objects.remove({ key, signal: never() })
      const before = await bed.everything()
      const fault = { kind: 'missing_object', userId: ALICE, name: 'c', objectKey: key }
      const finding = { ...fault, recorded: 4, repaired: false }
      expect((await verify(bed)).findings).toEqual([finding])
      expect((await verify(bed, { ...REPAIR, userId: ALICE })).findings).toEqual([finding])
      expect(await kindsFound(bed, { userId: BOB })).toEqual([])
      expect(await bed.everything()).toEqual(before)
    })

    it('finds a past version whose object is missing, also when it is restored', async () => {
      const key = await bed.upload(ALICE, 'c', 'past')
      await bed.upload(ALICE, 'c', 'present')
      expect(await kindsFound(bed, { readOneIn: 1 })).toEqual([])
      await bed.objects.remove({ key, signal: never() })
      const finding = { kind: 'missing_object', userId: ALICE, name: 'c', objectKey: key }
      expect((await verify(bed, REPAIR)).findings).toEqual([
        { ...finding, recorded: 4, repaired: false },
      ])
      const version = versionOf(key) as Version
      await bed.ledger.restoreVersion({
        ...(await callerNamed(bed.users, ALICE)),
        version,
        name: parseFileName('d'),
        overwrite: false,
      })
      expect((await verify(bed)).findings).toMatchObject([{ ...finding, name: 'd' }])
    })

    it('finds a file whose object is of another size, and never touches it', async () => {
      const objectKey = await replaceObject('wrong!')
      const before = await bed.everything()
      expect((await verify(bed, REPAIR)).findings).toEqual([
        {
          kind: 'wrong_size',
          userId: ALICE,
          name: 'c',
          objectKey,
          recorded: 5,
          found: 6,
          repaired: false,
        },
      ])
      expect(await bed.everything()).toEqual(before)
    })

    it('finds other content of the same size when it reads, and only then', async () => {
      await replaceObject('wrong')
      expect(await kindsFound(bed)).toEqual([])
      const { findings, verification } = await verify(bed, { ...REPAIR, readOneIn: 1 })
      expect(findings).toMatchObject([{ kind: 'wrong_digest', name: 'c', repaired: false }])
      expect(verification).toMatchObject({ readFiles: 4, readBytes: 15 })
    })

    it('finds a CRC-32 that the content does not have when it reads', async () => {
      await bed.database.kysely
        .updateTable('files')
        .set({ crc32: 1 })
        .where('name', '=', parseFileName('b'))
        .execute()
      expect(await kindsFound(bed)).toEqual([])
      const { findings } = await verify(bed, { ...REPAIR, readOneIn: 1 })
      expect(findings).toMatchObject([
        { kind: 'wrong_digest', name: 'b', recorded: 'crc32:00000001' },
      ])
    })

    it('finds missing objects and wrong sizes also when it reads', async () => {
      await replaceObject('wrong!')
      const key = await bed.upload(BOB, 'd', 'gone')
      await bed.objects.remove({ key, signal: never() })
      expect(await kindsFound(bed, { readOneIn: 1 })).toEqual(['missing_object', 'wrong_size'])
      // One file in so many that none is read.
      expect(await kindsFound(bed, { readOneIn: 2 ** 50 })).toEqual([
        'missing_object',
        'wrong_size',
      ])
    })

    it('finds an orphan, and hands it to the sweeper on demand, which removes nothing else', async () => {
      const key = await bed.stray(strayKey(ALICE))
      const before = await bed.everything()
      const finding = { kind: 'orphaned_object', userId: ALICE, objectKey: key }
      for (const request of [{}, { userId: ALICE }]) {
        expect((await verify(bed, request)).findings).toEqual([{ ...finding, repaired: false }])
      }
      expect(await kindsFound(bed, { userId: BOB })).toEqual([])
      expect(await bed.everything()).toEqual(before)

      expect((await verify(bed, REPAIR)).findings).toEqual([{ ...finding, repaired: true }])
      expect(await bed.has(key)).toBe(true)
      expect(await kindsFound(bed)).toEqual([])
      await bed.sweep()
      // Its grace period has not passed.
      expect(await bed.has(key)).toBe(true)
      await sql`UPDATE garbage SET not_before = 0`.execute(bed.database.kysely)
      await bed.sweep()
      expect(await verify(bed)).toMatchObject({ findings: [], verification: { objects: 3 } })
    })

    it('keeps an orphan that a row with another key may mean', async () => {
      const key = await bed.upload(ALICE, 'c', 'kept')
      const wrong = strayKey(ALICE)
      await sql`UPDATE files SET object_key = ${wrong} WHERE object_key = ${key}`.execute(
        bed.database.kysely,
      )
      await sql`DELETE FROM uploads`.execute(bed.database.kysely)
      expect((await verify(bed, REPAIR)).findings).toMatchObject([
        { kind: 'missing_object', objectKey: wrong, repaired: false },
        { kind: 'orphaned_object', objectKey: key, repaired: false },
      ])
    })

    it('keeps objects of users that nobody knows until one is named', async () => {
      const key = await bed.stray(strayKey(CAROL))
      expect((await verify(bed, REPAIR)).findings).toEqual([
        { kind: 'foreign_object', userId: CAROL, objectKey: key, repaired: false },
      ])
      expect(await kindsFound(bed, { ...REPAIR, userId: CAROL })).toEqual(['orphaned_object'])
      expect(await kindsFound(bed)).toEqual([])
      expect(await kindsFound(bed, { userId: CAROL })).toEqual([])
    })

    it('keeps objects under keys that the service never makes', async () => {
      const version = '00000000-0000-4000-8000-000000000000' as Version
      await bed.stray(objectKey(ALICE, version))
      await bed.stray(objectKey('me' as typeof ALICE, createVersion()))
      const before = await bed.everything()
      expect(await kindsFound(bed, REPAIR)).toEqual(['foreign_object', 'foreign_object'])
      expect(await bed.everything()).toEqual(before)
    })

    it('rejects with not_found for a user of whom there is nothing', async () => {
      await expect(verify(bed, { userId: CAROL })).rejects.toMatchObject({ code: 'not_found' })
    })
  })
}
