import { NEVER } from '../../../src/core/files/file.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import { parseMetadata } from '../../../src/core/files/metadata.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import {
  markerKey,
  type ObjectKey,
  type Version,
  versionOf,
  isVersion,
  timeOf,
} from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { contentOf } from '../../support/http/incoming-file.ts'
import { digest, never } from '../../support/objects.ts'
import { createRebuildJournal } from '../../../src/database/rebuild/journal.ts'
import { authorized, callerNamed } from '../../support/caller.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { kindsFound, verify } from '../../support/verify.ts'
import {
  contentIn,
  emptyAgain,
  interrupted,
  KEEP_MS,
  openRebuildBed,
  type OpenRebuildAdapters,
  type RebuildBed,
  uploadAfter,
} from './fixture.ts'
import { ALICE, BOB, strayKey } from '../verify/fixture.ts'

const NAMES = ['plain.txt', 'résumé 100%.pdf', '日本語', '💾'.repeat(63), "a&b=c+d?e#f'(g)!*~", ' ']

/** `false` for an outage; anything else is a failure of the test. */
function isOutage(error: unknown): false {
  if (isAppError(error, 'unavailable')) return false
  throw error
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
      for (const name of NAMES) {
        for (const userId of [ALICE, BOB]) await bed.lost.upload(userId, name, `${userId} ${name}`)
      }
      const { outcome, findings } = await bed.rebuild()
      expect(findings).toEqual([])
      const bytes = NAMES.reduce((sum, name) => sum + 2 * Buffer.byteLength(name) + 10, 0)
      const figures = { users: 2, files: 12, bytes, replaced: 0 }
      expect(outcome).toMatchObject({
        refused: false,
        counts: { listed: 12, readObjects: 12, readBytes: bytes, settled: 12, ...figures },
      })
      expect(await verify({ ...bed, database: bed.empty }, DEEP)).toMatchObject({
        findings: [],
        verification: { users: 2, files: 12, readFiles: 12 },
      })
      const rebuilt = await bed.rebuilt()
      for (const name of NAMES) {
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

    it('takes the newest of a name, and keeps what it replaced for a month', async () => {
      const older = await bed.lost.upload(ALICE, 'a', 'old')
      await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      const { outcome, findings } = await bed.rebuild()
      expect(findings).toMatchObject([{ kind: 'replaced_object', name: 'a', objectKey: older }])
      expect(outcome).toMatchObject({ counts: { users: 1, files: 1, bytes: 5, replaced: 1 } })
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBe('newer')
      const garbage = await bed.empty.kysely.selectFrom('garbage').selectAll().execute()
      expect(garbage.map(({ object_key }) => object_key)).toEqual([older])
      expect((garbage[0]?.not_before ?? 0) - Date.now()).toBeGreaterThan(KEEP_MS - 60_000)
      await rebuilt.sweep()
      expect(await rebuilt.has(older)).toBe(true)
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('brings no past version back once the sweep has marked it, and keeps it for a month', async () => {
      const uploadAs = async (name: string, content: string) =>
        (await uploadAfter(bed.lost, { userId: ALICE, name, content })) as ObjectKey
      const [older, newer] = [await uploadAs('a', 'old'), await uploadAs('a', 'new')]
      await bed.lost.remove(ALICE, 'a')
      const kept = await uploadAs('b', 'first')
      await bed.lost.remove(ALICE, 'b')
      const moved = await uploadAs('c', 'moved')
      await bed.lost.rename(ALICE, 'c', 'd')
      await uploadAs('d', 'again')
      await bed.lost.sweep()
      await uploadAs('b', 'again')
      // Not yet marked.
      await uploadAs('e', 'e')
      await bed.lost.remove(ALICE, 'e')
      const { outcome, findings } = await bed.rebuild()
      const figures = { users: 1, files: 3, bytes: 11, past: 4, replaced: 0 }
      expect(outcome).toMatchObject({ counts: figures })
      const past = [older, newer, kept, moved].toSorted()
      expect(findings).toMatchObject(past.map((objectKey) => ({ kind: 'past_object', objectKey })))
      const rebuilt = await bed.rebuilt()
      const contents = ['a', 'b', 'c', 'd', 'e'].map((name) =>
        contentIn(rebuilt, { userId: ALICE, name }),
      )
      expect(await Promise.all(contents)).toEqual([undefined, 'again', undefined, 'again', 'e'])
      const garbage = await bed.empty.kysely.selectFrom('garbage').selectAll().execute()
      const keys = garbage.map(({ object_key }) => object_key)
      expect(keys.toSorted()).toEqual([...past, ...past.map(markerKey)].toSorted())
      for (const row of garbage) {
        expect(row.not_before - Date.now()).toBeGreaterThan(KEEP_MS - 60_000)
      }
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('brings a restored version back, also where a newer one was deleted or replaced', async () => {
      const { lost } = bed
      const restore = async (key: ObjectKey): Promise<void> => {
        const caller = authorized(await callerNamed(lost.users, ALICE))
        const version = versionOf(key) as Version
        const as = { version, name: undefined, overwrite: true, precondition: undefined }
        await lost.history.restore({ ...caller, ...as })
      }
      const uploadAs = async (name: string, content: string) =>
        (await uploadAfter(lost, { userId: ALICE, name, content })) as ObjectKey
      const alone = await uploadAs('a', 'alone')
      await lost.remove(ALICE, 'a')
      const beforeDeleted = await uploadAs('b', 'before')
      await uploadAs('b', 'deleted')
      await lost.remove(ALICE, 'b')
      const beforeReplaced = await uploadAs('c', 'before')
      await uploadAs('c', 'replaced')
      await lost.sweep()
      for (const key of [alone, beforeDeleted, beforeReplaced]) await restore(key)
      expect(await lost.has(markerKey(alone))).toBe(false)
      await lost.sweep()
      await bed.rebuild()
      const rebuilt = await bed.rebuilt()
      const contents = ['a', 'b', 'c'].map((name) => contentIn(rebuilt, { userId: ALICE, name }))
      expect(await Promise.all(contents)).toEqual(['alone', 'before', 'before'])
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
      const { outcome, findings } = await bed.rebuild()
      expect(outcome).toMatchObject({ isFinished: true, counts: { users: 1, files: 1, bytes: 5 } })
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
      expect((await bed.rebuild()).outcome).toEqual({ refused: true })
      expect((await bed.rebuild({ dryRun: true })).outcome).toEqual({ refused: true })
      expect(await (await bed.rebuilt()).everything()).toEqual(before)
    })

    it('refuses a database that has nothing but garbage', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const row = { object_key: strayKey(BOB), not_before: 2 ** 50 }
      await bed.empty.kysely.insertInto('garbage').values(row).execute()
      expect((await bed.rebuild()).outcome).toEqual({ refused: true })
      expect(await bed.empty.kysely.selectFrom('users').selectAll().execute()).toEqual([])
    })

    it('says in a dry run what it would do, and leaves the database empty', async () => {
      await bed.lost.upload(ALICE, 'a', 'old')
      await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      await bed.lost.upload(BOB, 'b', 'bob')
      const figures = { users: 2, files: 2, bytes: 8, replaced: 1 }
      for (let run = 0; run < 2; run++) {
        const { outcome } = await bed.rebuild({ dryRun: true })
        expect(outcome).toMatchObject({
          counts: { listed: 3, readObjects: 0, settled: 0, ...figures },
        })
      }
      const tables = await bed.empty.kysely.introspection.getTables()
      expect(tables.map(({ name }) => name)).not.toContain('rebuild_objects')
      expect(await bed.empty.kysely.selectFrom('users').selectAll().execute()).toEqual([])
      expect((await bed.rebuild()).outcome).toMatchObject({ counts: { ...figures, settled: 3 } })
    })

    it('leaves alone and reports what it can make no file of', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const copy = strayKey(BOB)
      const original = await bed.lost.upload(ALICE, 'b', 'hi')
      const putNamed = async (key: ObjectKey, name: string): Promise<ObjectKey> => {
        const body = contentOf([Buffer.from('x')])
        await bed.objects.put({ key, body, metadata: { name }, signal: never() })
        return key
      }
      const copied = copy.replace(versionOf(copy), versionOf(original)) as ObjectKey
      await putNamed(copied, 'b')
      const unnamed = [
        await bed.lost.stray(strayKey(ALICE)),
        await putNamed(strayKey(ALICE), '100%'),
        await putNamed(strayKey(ALICE), 'a%2Fb'),
      ]
      const foreign = [
        await putNamed('users/me/01935000-0000-7000-8000-000000000000' as ObjectKey, 'c'),
        await putNamed('users/alice/01935000-0000-4000-8000-000000000000' as ObjectKey, 'c'),
      ]
      const { outcome, findings } = await bed.rebuild()
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
      expect(outcome).toMatchObject({ counts: { listed: 8, files: 2 } })
      for (const { objectKey } of findings) expect(await bed.lost.has(objectKey)).toBe(true)
    })

    it('makes no file of an older object when the newest of its name can not be read', async () => {
      const older = await bed.lost.upload(ALICE, 'a', 'old')
      const newest = await uploadAfter(bed.lost, { userId: ALICE, name: 'a', content: 'newer' })
      await bed.lost.upload(ALICE, 'b', 'fine')
      const { objects } = bed
      const { outcome, findings } = await bed.rebuild(
        {},
        {
          objects: faultyStore(objects, {
            open: (object) =>
              object.key === newest ? Promise.reject(outage()) : objects.open(object),
          }),
        },
      )
      expect(findings).toMatchObject([{ kind: 'unreadable_object', name: 'a', objectKey: newest }])
      expect(outcome).toMatchObject({ counts: { settled: 1, readObjects: 1 } })
      const rebuilt = await bed.rebuilt()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'a' })).toBeUndefined()
      expect(await contentIn(rebuilt, { userId: ALICE, name: 'b' })).toBe('fine')
      expect(await bed.empty.kysely.selectFrom('garbage').selectAll().execute()).toEqual([])
      expect(await rebuilt.has(older)).toBe(true)
      expect(outcome).toMatchObject({ isFinished: false })
      const { findings: found } = await bed.rebuild()
      expect(found).toMatchObject([{ kind: 'replaced_object', objectKey: older }])
      expect(await contentIn(await bed.rebuilt(), { userId: ALICE, name: 'a' })).toBe('newer')
      expect(await createRebuildJournal(bed.empty).isUnfinished()).toBe(false)
    })

    it('ends without what can not be read when it is told to', async () => {
      const key = await bed.lost.upload(ALICE, 'a', 'hello')
      await bed.lost.upload(ALICE, 'b', 'fine')
      const { objects } = bed
      const open: ObjectStore['open'] = (object) =>
        object.key === key ? Promise.reject(outage()) : objects.open(object)
      const ports = { objects: faultyStore(objects, { open }) }
      const journal = createRebuildJournal(bed.empty)
      expect((await bed.rebuild({}, ports)).outcome).toMatchObject({ isFinished: false })
      expect(await journal.isUnfinished()).toBe(true)
      const { outcome, findings } = await bed.rebuild({ skipUnreadable: true }, ports)
      expect(outcome).toMatchObject({ isFinished: true, counts: { files: 2, settled: 1 } })
      expect(findings).toMatchObject([{ kind: 'unreadable_object', objectKey: key }])
      expect(await journal.isUnfinished()).toBe(false)
    })

    it('says after an interruption that it starts over, also in a dry run', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      const whole = createRebuildJournal(bed.empty)
      const settle: typeof whole.settle = async (objects) => {
        await whole.settle(objects)
        throw outage()
      }
      const interruption = bed.rebuild({}, { journal: { ...whole, settle } })
      await expect(interruption).rejects.toThrow('An injected fault.')
      // An operator may do this meanwhile.
      await (await bed.rebuilt()).users.createUser(BOB)
      let restarts = 0
      const onRestart = () => void (restarts += 1)
      const dry = await bed.rebuild({ dryRun: true, onRestart })
      expect(dry.outcome).toMatchObject({ counts: { files: NAMES.length, settled: 0 } })
      expect(await whole.isUnfinished()).toBe(true)
      expect(await bed.empty.kysely.selectFrom('files').selectAll().execute()).toEqual([])
      const { outcome } = await bed.rebuild({ onRestart })
      expect(outcome).toMatchObject({ isFinished: true, counts: { settled: NAMES.length } })
      expect(restarts).toBe(2)
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('takes over from a run that still works, which then fails', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      const whole = createRebuildJournal(bed.empty)
      const [list, settle] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const first = bed.rebuild(
        {},
        {
          journal: {
            ...whole,
            settle: async (objects) => {
              list.resolve()
              await settle.promise
              await whole.settle(objects)
            },
          },
        },
      )
      await list.promise
      const second = createRebuildJournal(bed.empty)
      expect(await second.begin()).toBe('restarted')
      settle.resolve()
      await expect(first).rejects.toMatchObject({
        code: 'unavailable',
        message: 'Another rebuild has started and takes over from this one.',
      })
      await expect(whole.finish()).rejects.toMatchObject({ code: 'unavailable' })
      expect(await second.isUnfinished()).toBe(true)
      expect(await bed.empty.kysely.selectFrom('files').selectAll().execute()).toEqual([])
      expect((await bed.rebuild()).outcome).toMatchObject({ counts: { settled: NAMES.length } })
      expect(await kindsFound({ ...bed, database: bed.empty })).toEqual([])
    })

    it('leaves nothing of a dry run that fails', async () => {
      await bed.lost.upload(ALICE, 'a', 'hello')
      const head = async (): Promise<never> => {
        throw outage()
      }
      const stopped = bed.rebuild({ dryRun: true }, { objects: faultyStore(bed.objects, { head }) })
      await expect(stopped).rejects.toMatchObject({ code: 'unavailable' })
      expect(await createRebuildJournal(bed.empty).isUnfinished()).toBe(false)
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
        const ports = { journal: createRebuildJournal(bed.empty), objects: bed.objects }
        let at = 0
        for (; ; at++) {
          await emptyAgain(bed.empty)
          const failing = interrupted(ports, { at, afterEffect })
          // A read is tried twice, so not every interruption ends the run.
          const isWhole = await bed.rebuild({}, failing).then(() => true, isOutage)
          if (failing.calls() <= at) break
          if (!isWhole) await bed.rebuild()
          const { findings, verification } = await verify({ ...bed, database: bed.empty }, DEEP)
          expect({ at, findings }).toEqual({ at, findings: [] })
          expect(verification).toMatchObject({ users: 1, files: 3, readFiles: 3, objects: 6 })
          expect(await ports.journal.isUnfinished()).toBe(false)
        }
        expect(at).toBeGreaterThan(10)
        const rebuilt = await bed.rebuilt()
        for (const name of names) {
          expect(await contentIn(rebuilt, { userId: ALICE, name })).toBe(`new ${name}`)
        }
      },
    )

    it('loses nothing to a repair and a sweep between an interruption and its end', async () => {
      for (const name of NAMES) await bed.lost.upload(ALICE, name, `of ${name}`)
      await uploadAfter(bed.lost, { userId: ALICE, name: 'plain.txt', content: 'newer' })
      const whole = createRebuildJournal(bed.empty)
      let settled = 0
      const settle: typeof whole.settle = async (page) => {
        const files = page.files.slice(0, 2)
        await whole.settle({ ...page, files })
        settled += files.length
        throw outage()
      }
      await expect(bed.rebuild({}, { journal: { ...whole, settle } })).rejects.toThrow(
        'An injected fault.',
      )
      expect(settled).toBe(2)
      for (const userId of [undefined, ALICE]) {
        await verify({ ...bed, database: bed.empty }, { userId, repair: true })
      }
      expect((await bed.rebuild()).outcome).toMatchObject({ counts: { settled: 7 } })
      await bed.empty.kysely.updateTable('garbage').set({ not_before: 0 }).execute()
      const rebuilt = await bed.rebuilt()
      await rebuilt.sweep()
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
      expect(await createRebuildJournal(bed.empty).isUnfinished()).toBe(true)
      expect((await bed.rebuild()).outcome).toMatchObject({ counts: { files: 1, settled: 1 } })
    })
  })
}
