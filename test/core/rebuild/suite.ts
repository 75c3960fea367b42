import { sql } from 'kysely'
import { NEVER } from '../../../src/core/files/file.ts'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import { parseMetadata } from '../../../src/core/files/metadata.ts'
import { EVERY_NAME, parseFileName } from '../../../src/core/files/file-name.ts'
import type { PastVersion } from '../../../src/core/history/past-version.ts'
import {
  type ObjectKey,
  type Version,
  versionOf,
  isVersion,
  timeOf,
} from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { contentOf } from '../../support/http/incoming-file.ts'
import { isMarkerName, VALID_NAMES } from '../../support/names/valid-names.ts'
import { digest, never } from '../../support/objects.ts'
import { createRebuilder } from '../../../src/core/rebuild/rebuilder.ts'
import { createRebuildLedger } from '../../../src/database/rebuild/rebuild-ledger.ts'
import { authorized, callerNamed } from '../../support/caller.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { kindsFound, verify } from '../../support/verify.ts'
import {
  contentIn,
  emptyAgain,
  interrupted,
  openRebuildBed,
  type OpenRebuildAdapters,
  type RebuildBed,
  uploadAfter,
} from './fixture.ts'
import { ALICE, BOB, strayKey, type VerifyBed } from '../verify/fixture.ts'

const NAMES = ['plain.txt', 'résumé 100%.pdf', '日本語/a', '日本語', "a&b=c+d?e#f'(g)!*~", ' / ']

/** Those with content. */
const MANY_NAMES = VALID_NAMES.filter((name) => !isMarkerName(name))

/** `false` for an outage; anything else is a failure of the test. */
function isOutage(error: unknown): false {
  if (isAppError(error, 'unavailable')) return false
  throw error
}

/** An interruption after the end leaves a whole database. */
function assertDone(error: unknown): void {
  expect(String(error)).toContain('needs an empty database')
}

const DEEP = { readOneIn: 1 }

/** A database that is lost comes back from the object store. */
export function rebuildSuite(name: string, open: OpenRebuildAdapters): void {
  describe(`rebuild on ${name}`, () => {
    let bed: RebuildBed
    beforeEach(async () => {
      bed = await openRebuildBed(open)
    })
    afterEach(() => bed.close())

    it('brings back every file of every user, byte-exact, with exact quotas', async () => {
      for (const name of MANY_NAMES) {
        for (const userId of [ALICE, BOB]) await bed.lost.upload(userId, name, `${userId} ${name}`)
      }
      const { counts, findings } = await bed.rebuild()
      expect(findings).toEqual([])
      const files = 2 * MANY_NAMES.length
      const bytes = MANY_NAMES.reduce((sum, name) => sum + 2 * Buffer.byteLength(name) + 10, 0)
      expect(counts).toEqual({
        listed: files,
        readBytes: bytes,
        unreadable: 0,
        users: 2,
        files,
        bytes,
      })
      expect(await verify({ ...bed, database: bed.empty }, DEEP)).toMatchObject({
        findings: [],
        verification: { users: 2, files, readFiles: files },
      })
      const rebuilt = await bed.rebuilt()
      for (const name of MANY_NAMES) {
        for (const userId of [ALICE, BOB]) {
          expect(await contentIn(rebuilt, { userId, name })).toBe(`${userId} ${name}`)
        }
      }
    })

    it('says of a file what its object says: version, times, size, digest, and that it is private', async () => {
      const key = await bed.lost.upload(ALICE, 'a', 'hello')
      await bed.rebuild()
      const { ledger, users } = await bed.rebuilt()
      const version = versionOf(key)
      const began = isVersion(version) ? timeOf(version) : 0
      expect(Math.abs(Date.now() - began)).toBeLessThan(60_000)
      expect(
        await ledger.findFile({ userId: ALICE, name: parseFileName('a'), audience: 'owner' }),
      ).toEqual({
        userId: ALICE,
        name: 'a',
        version,
        objectKey: key,
        size: 5,
        sha256: digest(Buffer.from('hello')),
        crc32: crc32('hello'),
        visibility: 'private',
        createdAt: began,
        updatedAt: began,
        mediaType: null,
        metadata: null,
        expiresAt: NEVER,
        isKept: 0,
        metadataBytes: 0,
        // Later than any date that the name had before the rebuild.
        modifiedAt: expect.any(Number) as number,
        storedBy: null,
        deviceId: null,
      })
      const user = { userId: ALICE, status: 'active', createdAt: began }
      expect(await users.findUser(ALICE)).toEqual(user)
    })

    it('says of a file what its upload has sent with it, as far as the object could take it', async () => {
      const mediaType = parseMediaType('image/png')
      const metadata = parseMetadata('{"place":"Köln"}')
      const large = parseMetadata(JSON.stringify({ large: 'x'.repeat(2000) }))
      await bed.lost.upload(ALICE, 'a', { content: 'small', mediaType, metadata })
      await bed.lost.upload(ALICE, 'b', { content: 'x'.repeat(9_000), mediaType, metadata: large })
      await bed.rebuild()
      const { ledger } = await bed.rebuilt()
      const found = (name: string) =>
        ledger.findFile({ userId: ALICE, name: parseFileName(name), audience: 'owner' })
      expect(await found('a')).toMatchObject({ mediaType, metadata })
      expect(await found('b')).toMatchObject({ mediaType, metadata: null })
    })

    it('gives each file to the device that stored it, and counts it there', async () => {
      const metadata = parseMetadata(JSON.stringify({ note: 'x'.repeat(300) }))
      const files = [
        ['a', 'camera'],
        ['b', 'phone'],
        ['c', undefined],
        ['d', 'camera'],
      ] as const
      for (const [name, deviceId] of files) {
        const sent = { content: name, metadata, ...(deviceId && { deviceId }) }
        await bed.lost.upload(ALICE, name, sent)
      }
      await bed.rebuild()
      const { ledger } = await bed.rebuilt()
      const found = ([name]: (typeof files)[number]) =>
        ledger.findFile({ userId: ALICE, name: parseFileName(name), audience: 'owner' })
      const devices = (await Promise.all(files.map(found))).map((file) => file?.deviceId)
      expect(devices).toEqual(['camera', 'phone', null, 'camera'])
      const { rows } = await sql`SELECT device_id, file_count FROM device_usage ORDER BY 1`.execute(
        bed.empty.kysely,
      )
      expect(rows).toEqual([
        { device_id: 'camera', file_count: 2 },
        { device_id: 'phone', file_count: 1 },
      ])
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('takes the newest of a name, and makes the older ones history, newest first', async () => {
      const contents = ['first', 'second', 'third', 'newest']
      const keys: ObjectKey[] = []
      for (const content of contents) {
        const file = { userId: ALICE, name: 'a', content }
        keys.push((await uploadAfter(bed.lost, file)) as ObjectKey)
      }
      await bed.lost.upload(ALICE, 'b', 'other')
      const { counts, findings } = await bed.rebuild()
      const older = keys.slice(0, 3)
      expect(findings).toMatchObject(
        older.map((objectKey) => ({ kind: 'replaced_object', name: 'a', objectKey })),
      )
      expect(counts).toMatchObject({ users: 1, files: 2, bytes: 11, readBytes: 27 })
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBe('newest')
      await rebuilt.sweep()
      const past = await pastOf(rebuilt)
      expect(past).toMatchObject([
        { name: 'a', objectKey: older[2], sha256: digest(Buffer.from('third')) },
        { name: 'a', objectKey: older[1] },
        { name: 'a', objectKey: older[0], visibility: 'private', endedAs: 'replaced' },
      ])
      const { endedAt, expiresAt } = past[0] ?? { endedAt: 0, expiresAt: 0 }
      expect(Math.abs(Date.now() - endedAt)).toBeLessThan(60_000)
      expect(expiresAt - endedAt).toBe(LIFETIME_MS)
      expect(await verify({ ...bed, database: bed.empty }, DEEP)).toMatchObject({ findings: [] })
      await rebuilt.history.restore({
        ...(await restoringOf(rebuilt)),
        version: versionIn(older[0]),
      })
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBe('first')
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('brings deleted files back, and leaves a restored one to the history', async () => {
      const { lost } = bed
      const deleted = await lost.upload(ALICE, 'a', 'deleted')
      await lost.remove(ALICE, 'a')
      const restored = await lost.upload(ALICE, 'b', 'restored')
      await uploadAfter(lost, { userId: ALICE, name: 'b', content: 'newer' })
      await lost.history.restore({ ...(await restoringOf(lost)), version: versionIn(restored) })
      await bed.rebuild()
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBe('deleted')
      expect(await rebuilt.has(deleted)).toBe(true)
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'b' })).toBe('newer')
      expect(await pastOf(rebuilt)).toMatchObject([{ name: 'b', objectKey: restored }])
    })

    it('leaves to the first sweep what exceeds the allowance, or all without a history', async () => {
      const [older, newer] = [await bed.lost.upload(ALICE, 'a', 'x'.repeat(9000)), 'newer']
      await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: newer })
      await bed.lost.upload(ALICE, 'b', 'b')
      await bed.rebuild()
      const rebuilt = await bed.rebuilt({ BASE_CAPACITY: '10000' })
      expect(await pastOf(rebuilt)).toHaveLength(1)
      await rebuilt.sweep()
      expect(await pastOf(rebuilt)).toEqual([])
      await rebuilt.sweep()
      expect(await rebuilt.has(older)).toBe(false)
      await emptyAgain(bed.empty)
      const old = await uploadAfter(bed.lost, { userId: ALICE, name: 'b', content: 'newest' })
      expect(await bed.lost.has(old as ObjectKey)).toBe(true)
      await bed.rebuild()
      const without = await bed.rebuilt({ HISTORY_LIFETIME: '0' })
      expect(await pastOf(without)).toEqual([])
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
      await without.sweep()
      const { kysely } = bed.empty
      expect(await kysely.selectFrom('history').selectAll().execute()).toEqual([])
      expect(await contentIn(without, { userId: ALICE, name: 'b' })).toBe('newest')
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('brings a renamed file back under the name with which it was uploaded', async () => {
      await bed.lost.upload(ALICE, 'before', 'x')
      await bed.lost.rename(ALICE, 'before', 'after')
      await bed.rebuild()
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'before' })).toBe('x')
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'after' })).toBeUndefined()
    })

    it('makes no file of an unfinished upload, whose tail is an object without a name', async () => {
      const uploads = await bed.lost.uploadsOf(ALICE)
      await uploads.begin('finished', 5, 'hello')
      const unfinished = await uploads.begin('unfinished', 10, 'hello')
      const pieces = await bed.lost.ledger.listPieces(unfinished)
      const tails = pieces.flatMap(({ objectKey: key }) => key ?? [])
      expect(tails).toHaveLength(bed.objects.hasTails ? 1 : 0)
      const { counts, findings } = await bed.rebuild()
      expect(counts).toMatchObject({ users: 1, files: 1, bytes: 5 })
      expect(findings).toEqual(
        tails.map((key) => ({ kind: 'unnamed_object', userId: ALICE, objectKey: key })),
      )
      const ports = { ...bed, database: bed.empty }
      expect(await kindsFound(ports)).toEqual(tails.map(() => 'orphaned_object'))
      await verify(ports, { repair: true })
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'unfinished' })).toBeUndefined()
      expect(await kindsFound(ports)).toEqual([])
    })

    it('refuses a database that has users, and changes nothing', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      // It makes users.
      const before = await (await bed.rebuilt()).everything()
      await expect(bed.rebuild()).rejects.toThrow('needs an empty database')
      await expect(bed.rebuild({ dryRun: true })).rejects.toThrow('needs an empty database')
      expect(await (await bed.rebuilt()).everything()).toEqual(before)
    })

    it('refuses a database that has nothing but garbage', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const row = { object_key: strayKey(BOB), not_before: 2 ** 50 }
      await bed.empty.kysely.insertInto('garbage').values(row).execute()
      await expect(bed.rebuild()).rejects.toThrow('needs an empty database')
      expect(await bed.empty.kysely.selectFrom('users').selectAll().execute()).toEqual([])
    })

    it('says in a dry run what it would do, and leaves the database empty', async () => {
      await bed.lost.upload(ALICE, 'a', 'old')
      await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      await bed.lost.upload(BOB, 'b', 'bob')
      const figures = { listed: 3, unreadable: 0, users: 2, files: 2, bytes: 8 }
      for (let run = 0; run < 2; run++) {
        const { counts, findings } = await bed.rebuild({ dryRun: true })
        expect(counts).toEqual({ ...figures, readBytes: 0 })
        expect(findings).toMatchObject([{ kind: 'replaced_object', name: 'a' }])
        for (const table of ['users', 'history', 'leader_leases'] as const) {
          expect(await bed.empty.kysely.selectFrom(table).selectAll().execute()).toEqual([])
        }
      }
      expect((await bed.rebuild()).counts).toEqual({ ...figures, readBytes: 11 })
    })

    it('leaves alone and reports what it can make no file of', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const copy = strayKey(BOB)
      const original = await bed.lost.upload(ALICE, 'b', 'hi')
      const putNamed = async (key: ObjectKey, name: string): Promise<ObjectKey> => {
        const body = contentOf([Buffer.from('x')])
        const metadata = { name: Buffer.from(name).toString('base64url') }
        await bed.objects.put({ key, body, metadata, signal: never() })
        return key
      }
      const copied = copy.replace(versionOf(copy), versionOf(original)) as ObjectKey
      await putNamed(copied, 'b')
      const unnamed = [
        await bed.lost.stray(strayKey(ALICE)),
        await putNamed(strayKey(ALICE), 'a\n'),
        await putNamed(strayKey(ALICE), 'a//b'),
      ]
      const foreign = [
        await putNamed('users/me/01935000-0000-7000-8000-000000000000' as ObjectKey, 'c'),
        await putNamed('users/alice/01935000-0000-4000-8000-000000000000' as ObjectKey, 'c'),
      ]
      const { counts, findings } = await bed.rebuild()
      const kinds = findings.map(({ kind }) => kind)
      expect(kinds).toEqual([
        'copied_object',
        ...foreign.map(() => 'foreign_object'),
        ...unnamed.map(() => 'unnamed_object'),
      ])
      // Of two with one version either may be the first that is listed.
      expect([copied, original]).toContain(findings[0]?.objectKey)
      const named = findings.slice(1).map(({ objectKey }) => objectKey)
      expect(named.sort()).toEqual([...foreign, ...unnamed].sort())
      expect(counts).toMatchObject({ listed: 8, files: 2 })
      for (const { objectKey } of findings) expect(await bed.lost.has(objectKey)).toBe(true)
    })

    it('makes no file of an older object when the newest of its name can not be read', async () => {
      const older = await bed.lost.upload(ALICE, 'a', 'old')
      const newest = await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      await bed.lost.upload(ALICE, 'b', 'fine')
      const ports = { objects: unreadable(bed.objects, newest) }
      const { counts, findings } = await bed.rebuild({}, ports)
      expect(findings).toMatchObject([{ kind: 'unreadable_object', name: 'a', objectKey: newest }])
      expect(counts).toMatchObject({ unreadable: 1, files: 0 })
      expect(await createRebuildLedger(bed.empty).isUnfinished()).toBe(true)
      const { findings: found } = await bed.rebuild()
      expect(found).toMatchObject([{ kind: 'replaced_object', objectKey: older }])
      expect(await contentIn(await bed.rebuilt(), { userId: ALICE, name: 'a' })).toBe('newer')
      expect(await createRebuildLedger(bed.empty).isUnfinished()).toBe(false)
    })

    it('ends without what can not be read when it is told to, and leaves older ones past', async () => {
      const older = await bed.lost.upload(ALICE, 'a', 'old')
      const newest = await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      const [first, second] = [
        await bed.lost.upload(ALICE, 'b', 'first'),
        await uploadAfter(bed.lost, { userId: ALICE, name: 'b', content: 'second' }),
      ]
      const ports = { objects: unreadable(bed.objects, newest, first) }
      const { counts, findings } = await bed.rebuild({ skipUnreadable: true }, ports)
      expect(counts).toMatchObject({ unreadable: 2, users: 1, files: 1, bytes: 6 })
      expect(findings.map(({ kind }) => kind)).toEqual([
        'replaced_object',
        'unreadable_object',
        'unreadable_object',
      ])
      expect(await createRebuildLedger(bed.empty).isUnfinished()).toBe(false)
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBeUndefined()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'b' })).toBe('second')
      expect(second).not.toBe(first)
      expect(await pastOf(rebuilt)).toMatchObject([{ name: 'a', objectKey: older }])
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([
        'orphaned_object',
        'orphaned_object',
      ])
    })

    it('says after an interruption that it starts over, also in a dry run', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      let restarts = 0
      const onRestart = () => void (restarts += 1)
      const whole = createRebuildLedger(bed.empty)
      const settle: typeof whole.settle = async (versions) => {
        await whole.settle(versions)
        throw outage()
      }
      const interrupt = () =>
        expect(bed.rebuild({}, { ledger: { ...whole, settle } })).rejects.toThrow(
          'An injected fault.',
        )
      await interrupt()
      const rebuilder = createRebuilder({ ledger: whole, objects: bed.objects })
      await expect(rebuilder.assertFinished()).rejects.toThrow('A rebuild was interrupted')
      const dry = await bed.rebuild({ dryRun: true, onRestart })
      expect(dry.counts).toMatchObject({ files: NAMES.length, readBytes: 0 })
      await rebuilder.assertFinished()
      expect(await bed.empty.kysely.selectFrom('users').selectAll().execute()).toEqual([])
      await interrupt()
      expect((await bed.rebuild({ onRestart })).counts).toMatchObject({ files: NAMES.length })
      expect(restarts).toBe(2)
      await rebuilder.assertFinished()
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('takes over from a run that still works, which then fails', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      const whole = createRebuildLedger(bed.empty)
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const settle: typeof whole.settle = async (versions) => {
        reached.resolve()
        await released.promise
        await whole.settle(versions)
      }
      const first = bed.rebuild({}, { ledger: { ...whole, settle } })
      await reached.promise
      const second = createRebuildLedger(bed.empty)
      expect(await second.begin()).toBe('restarted')
      released.resolve()
      await expect(first).rejects.toMatchObject({
        code: 'unavailable',
        message: 'Another rebuild has started and takes over from this one.',
      })
      await expect(whole.finish()).rejects.toMatchObject({ code: 'unavailable' })
      await expect(whole.clear()).rejects.toMatchObject({ code: 'unavailable' })
      expect(await second.isUnfinished()).toBe(true)
      expect(await bed.empty.kysely.selectFrom('users').selectAll().execute()).toEqual([])
      expect((await bed.rebuild()).counts).toMatchObject({ files: NAMES.length })
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('leaves nothing of a dry run that fails', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const head = async (): Promise<never> => {
        throw outage()
      }
      const stopped = bed.rebuild({ dryRun: true }, { objects: faultyStore(bed.objects, { head }) })
      await expect(stopped).rejects.toMatchObject({ code: 'unavailable' })
      expect(await createRebuildLedger(bed.empty).isUnfinished()).toBe(false)
    })

    it('stops when the store denies an object that it has listed', async () => {
      await bed.lost.upload(ALICE, 'a', 'old')
      const newest = await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      const { objects } = bed
      const head: ObjectStore['head'] = async (object) =>
        object.key === newest ? undefined : objects.head(object)
      const stopped = bed.rebuild({}, { objects: faultyStore(objects, { head }) })
      await expect(stopped).rejects.toMatchObject({
        code: 'unavailable',
        cause: { message: newest },
      })
      expect(await contentIn(await bed.rebuilt(), { userId: ALICE, name: 'a' })).toBeUndefined()
      await bed.rebuild()
      expect(await contentIn(await bed.rebuilt(), { userId: ALICE, name: 'a' })).toBe('newer')
    })

    it.each([
      ['before', false],
      ['after', true],
    ])(
      'is whole after it was interrupted %s the effect of any call',
      async (_when, afterEffect) => {
        const names = ['a', 'b', 'c']
        for (const name of names) await bed.lost.upload(ALICE, name, `old ${name}`)
        for (const name of names) {
          await uploadAfter(bed.lost, { userId: ALICE, name, content: `new ${name}` })
        }
        const ports = { ledger: createRebuildLedger(bed.empty), objects: bed.objects }
        let at = 0
        for (; ; at++) {
          await emptyAgain(bed.empty)
          const failing = interrupted(ports, { at, afterEffect })
          // A read is tried twice, so not every interruption ends the run.
          const isWhole = await bed.rebuild({}, failing).then(() => true, isOutage)
          if (failing.calls() <= at) break
          if (!isWhole) await bed.rebuild().catch(assertDone)
          const { findings, verification } = await verify({ ...bed, database: bed.empty }, DEEP)
          expect({ at, findings }).toEqual({ at, findings: [] })
          expect(verification).toMatchObject({ users: 1, files: 3, readFiles: 6, objects: 6 })
          expect(await ports.ledger.isUnfinished()).toBe(false)
        }
        expect(at).toBeGreaterThan(10)
        const rebuilt = await bed.rebuilt()
        for (const name of names) {
          expect(await contentIn(rebuilt, { userId: ALICE, name })).toBe(`new ${name}`)
        }
      },
    )

    it('loses nothing to a repair between an interruption and its end', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      await uploadAfter(bed.lost, { userId: ALICE, name: 'plain.txt', content: 'newer' })
      const whole = createRebuildLedger(bed.empty)
      const add: typeof whole.add = async (versions) => {
        await whole.add(versions.slice(0, 2))
        throw outage()
      }
      await expect(bed.rebuild({}, { ledger: { ...whole, add } })).rejects.toThrow(
        'An injected fault.',
      )
      for (const userId of [undefined, ALICE]) {
        await verify({ ...bed, database: bed.empty }, { userId, repair: true })
      }
      expect(await bed.empty.kysely.selectFrom('garbage').selectAll().execute()).toEqual([])
      expect((await bed.rebuild()).counts).toMatchObject({ files: NAMES.length })
      const rebuilt = await bed.rebuilt()
      for (const name of NAMES.slice(1)) {
        expect(await contentIn(rebuilt, { userId: ALICE, name })).toBe(`of ${name}`)
      }
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'plain.txt' })).toBe('newer')
    })

    it('stops when it is told to', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const reason = new Error('Interrupted.')
      const running = new AbortController()
      const onProgress = () => running.abort(reason)
      const { signal } = running
      await expect(bed.rebuild({ onProgress, signal })).rejects.toBe(reason)
      expect(await createRebuildLedger(bed.empty).isUnfinished()).toBe(true)
      expect((await bed.rebuild()).counts).toMatchObject({ files: 1 })
    })
  })
}

/** The store, of which some objects can't be read. */
function unreadable(objects: ObjectStore, ...keys: readonly string[]): ObjectStore {
  return faultyStore(objects, {
    open: (object) => (keys.includes(object.key) ? Promise.reject(outage()) : objects.open(object)),
  })
}

/** By default of `HISTORY_LIFETIME`. */
const LIFETIME_MS = 30 * 24 * 60 * 60_000

async function pastOf(bed: VerifyBed): Promise<readonly PastVersion[]> {
  const caller = authorized(await callerNamed(bed.users, ALICE))
  const page = { name: undefined, prefix: EVERY_NAME, after: undefined, limit: 100 }
  return (await bed.history.list({ subject: caller, ...page })).versions
}

async function restoringOf(bed: VerifyBed) {
  const caller = authorized(await callerNamed(bed.users, ALICE))
  return { subject: caller, name: undefined, overwrite: true, precondition: undefined }
}

function versionIn(key: ObjectKey | undefined): Version {
  return versionOf(key ?? ('' as ObjectKey)) as Version
}
