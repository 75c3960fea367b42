import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as iteration } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ObjectKey } from '../../../../src/core/objects/object-key.ts'
import type { ListedObject, ObjectStore } from '../../../../src/core/objects/object-store.ts'
import { createFilesystemStore } from '../../../../src/object-store/filesystem/store.ts'
import { filesIn } from '../../../support/folder.ts'
import { bytesOf, freshKey, never, put } from '../../../support/objects.ts'
import { createFolder } from '../../../support/servers/local-server.ts'
import { cutTo, overwritePageWith } from './damage.ts'

describe('small objects in local files', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let opened: AsyncDisposableStack
  let store: ObjectStore

  beforeEach(async () => {
    folder = await createFolder('pack')
    opened = new AsyncDisposableStack()
    opened.defer(() => folder.remove())
    store = openStore()
    await store.prepare(never())
  })
  afterEach(() => opened.disposeAsync())

  function openStore(): ObjectStore {
    const made = createFilesystemStore({ directory: folder.path })
    opened.defer(() => made.close())
    return made
  }

  const pack = () => join(folder.path, 'pack.sqlite')

  const putWhole = async (key: ObjectKey, body: Buffer, at = store): Promise<void> => {
    await at.put({ key, body, metadata: { name: 'a' }, signal: never() })
  }

  const read = async (key: ObjectKey, from = store): Promise<Buffer | undefined> => {
    const opened = await from.open({ key, signal: never() })
    return opened && (await bytesOf(opened.body))
  }

  const byKey = (a: ListedObject, b: ListedObject): number => (a.key < b.key ? -1 : 1)

  const listed = async (prefix: string): Promise<readonly ListedObject[]> =>
    await Array.fromAsync(store.list({ prefix, signal: never() }))

  it('lie in one file for its owner alone, and larger ones, or those of unknown size, in files of their own', async () => {
    const [small, large, streamed] = [freshKey(), freshKey(), freshKey()]
    await putWhole(small, randomBytes(32 * 1024))
    await putWhole(large, randomBytes(32 * 1024 + 1))
    await put(store, { key: streamed, content: randomBytes(1) })
    expect((await filesIn(folder.path)).toSorted()).toEqual(
      [large, `${large}.metadata`, streamed].toSorted(),
    )
    for (const end of ['', '-wal', '-shm']) {
      expect((await stat(pack() + end)).mode & 0o777).toBe(0o600)
    }
  })

  it('are seen by another process at once, and those that it removes no more', async () => {
    const other = openStore()
    const key = freshKey()
    expect(await read(key, other)).toBeUndefined()
    await putWhole(key, Buffer.from('content'))
    expect(await read(key, other)).toEqual(Buffer.from('content'))
    await other.remove({ key, signal: never() })
    expect(await read(key)).toBeUndefined()
  })

  it('are read and listed for a moment of each iteration of the event loop', async () => {
    const keys = Array.from({ length: 6 }, () => freshKey('ab'))
    for (const key of keys) await putWhole(key, Buffer.from(key))
    let nowMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1))
    onTestFinished(() => clock.mockRestore())
    let count = 0
    const reads = keys.map(async (key) => {
      const content = await read(key)
      count += 1
      return content
    })
    await iteration()
    expect(count).toBeLessThan(keys.length)
    expect(await Promise.all(reads)).toEqual(keys.map((key) => Buffer.from(key)))
    const iterated = vi.spyOn(StatementSync.prototype, 'iterate')
    onTestFinished(() => iterated.mockRestore())
    expect((await listed('users/ab/')).map(({ key }) => key)).toEqual(keys.toSorted())
    expect(iterated.mock.calls.length).toBeGreaterThan(2)
  })

  it('are written by two processes at once', async () => {
    const stores = [store, openStore()]
    const keys = Array.from({ length: 200 }, () => freshKey())
    await Promise.all(keys.map((key, at) => putWhole(key, Buffer.from(key), stores[at % 2])))
    for (const key of keys) expect(await read(key)).toEqual(Buffer.from(key))
  })

  it('are listed with those in files, however many, and with a prefix only those of the user', async () => {
    const own = Array.from({ length: 1001 }, () => freshKey('ab'))
    const others = [freshKey('a'), freshKey('abc'), freshKey('b')]
    await Promise.all([...own, ...others].map((key) => putWhole(key, Buffer.from('x'))))
    const streamed = freshKey('ab')
    await put(store, { key: streamed, content: Buffer.from('x') })
    const all = [...own, streamed].map((key) => ({ key, size: 1 }))
    expect((await listed('users/ab/')).toSorted(byKey)).toEqual(all.toSorted(byKey))
    expect(await listed('users/')).toHaveLength(1005)
  })

  it('are refused with the cause while their file cannot be used, and stored again when it can', async () => {
    const place = join(folder.path, 'other')
    const other = createFilesystemStore({ directory: place })
    opened.defer(() => other.close())
    await mkdir(join(place, 'pack.sqlite'), { recursive: true })
    const failing = putWhole(freshKey(), Buffer.from('x'), other)
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', dependency: 'object_store' })
    await rm(join(place, 'pack.sqlite'), { recursive: true })
    const key = freshKey()
    await putWhole(key, Buffer.from('x'), other)
    expect(await read(key, other)).toEqual(Buffer.from('x'))
  })

  it('E23 go to the folder that was prepared, though another one had its place at the first put', async () => {
    const away = `${folder.path}-away`
    await rename(folder.path, away)
    await mkdir(folder.path)
    await expect(putWhole(freshKey(), Buffer.from('x'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    await rm(folder.path, { recursive: true })
    await rename(away, folder.path)
    const key = freshKey()
    await putWhole(key, Buffer.from('content'))
    expect(await read(key)).toEqual(Buffer.from('content'))
    expect(await read(key, openStore())).toEqual(Buffer.from('content'))
  })

  it('can be prepared once another process has released the lock, which starts on a slow disk', async () => {
    await store.close()
    const starting = new DatabaseSync(pack())
    starting.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
    const closed = vi.spyOn(DatabaseSync.prototype, 'close')
    onTestFinished(() => closed.mockRestore())
    const preparing = openStore().prepare(never())
    // It has tried.
    await expect.poll(() => closed.mock.calls).not.toEqual([])
    starting.close()
    await preparing
  })

  it('are rejected when the caller has aborted', async () => {
    const leaving = new AbortController()
    const key = freshKey()
    const putting = store.put({ key, body: Buffer.from('x'), signal: leaving.signal })
    leaving.abort()
    await expect(putting).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('E18 reject a read of other bytes than were put, and the others stay readable', async () => {
    const objects = Array.from({ length: 100 }, () => ({
      key: freshKey(),
      content: randomBytes(9_000),
    }))
    for (const { key, content } of objects) await putWhole(key, content)
    await store.close()
    // In the middle of the file, a page that holds content.
    const file = await open(pack(), 'r+')
    await file.write(Buffer.alloc(4096), 0, 4096, 4096 * 120)
    await file.close()
    store = openStore()
    const outcomes = await Promise.allSettled(objects.map(({ key }) => read(key)))
    const failed = outcomes.filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(1)
    expect(failed).toMatchObject([{ reason: { code: 'unavailable' } }])
    expect(await listed('users/')).toHaveLength(100)
  })

  it('F11 are stored again after the thread that writes them has died', async () => {
    const posted = vi.spyOn(Worker.prototype, 'postMessage')
    onTestFinished(() => posted.mockRestore())
    await putWhole(freshKey(), Buffer.from('x'))
    const thread = posted.mock.contexts.at(-1) as Worker
    const waiting = putWhole(freshKey(), Buffer.from('x'))
    await Promise.all([
      expect(waiting).rejects.toMatchObject({ code: 'unavailable', dependency: 'object_store' }),
      thread.terminate(),
    ])
    const key = freshKey()
    await putWhole(key, Buffer.from('x'))
    expect(await read(key)).toEqual(Buffer.from('x'))
  })

  it('E18 on a damaged page fail, as a listing does, and the others have their size', async () => {
    const keys = Array.from({ length: 300 }, () => freshKey())
    await Promise.all(keys.map((key) => putWhole(key, Buffer.from('content'))))
    await store.close()
    await overwritePageWith(pack(), keys[0] ?? '')
    store = openStore()
    await store.prepare(never())
    await expect(listed('users/')).rejects.toMatchObject(DAMAGED)
    await expect(store.head({ key: keys[0] ?? freshKey(), signal: never() })).rejects.toMatchObject(
      DAMAGED,
    )
    const heads = await Promise.allSettled(keys.map((key) => store.head({ key, signal: never() })))
    const sound = heads.filter(({ status }) => status === 'fulfilled')
    expect(sound.length).toBeGreaterThan(200)
    for (const head of sound) expect(head).toMatchObject({ value: { size: 7 } })
    expect(await store.head({ key: freshKey(), signal: never() })).toBeUndefined()
  })

  it.each(['index', 'cut'] as const)(
    'E18 are refused where the pack cannot be read, take no file along, and never have other bytes (%s)',
    async (damage) => {
      const large = Array.from({ length: 3 }, () => freshKey('ann'))
      for (const key of large) await putWhole(key, Buffer.alloc(40_000))
      const keys = Array.from({ length: 600 }, () => freshKey('ann'))
      await Promise.all(keys.map((key) => putWhole(key, Buffer.from(key))))
      await store.close()
      if (damage === 'cut') await cutTo(pack(), 0.6)
      else await overwritePageWith(pack(), keys[300] ?? '', 'index')
      store = openStore()
      await store.prepare(never())
      for (const key of large) {
        expect(await store.head({ key, signal: never() })).toMatchObject({ size: 40_000 })
        expect(await read(key)).toEqual(Buffer.alloc(40_000))
      }
      await expect(read(keys[300] ?? freshKey())).rejects.toMatchObject(DAMAGED)
      for (const key of keys) expect([undefined, key]).toContain(await readOrFail(key))
      await expect(listed('users/ann/')).rejects.toMatchObject(DAMAGED)
      if (damage === 'index') return
      // A new one would be written over what is missing of others.
      await expect(putWhole(freshKey(), Buffer.from('x'))).rejects.toMatchObject(DAMAGED)
    },
  )

  const readOrFail = (key: ObjectKey): Promise<string | undefined> =>
    read(key).then(
      (content) => content?.toString() ?? 'missing',
      () => undefined,
    )

  it('E18 are never read under the key of another, whatever the pages say', async () => {
    const [own, other] = [freshKey('ann'), freshKey('zed')]
    await putWhole(own, Buffer.from('own'))
    await putWhole(other, Buffer.from('other'))
    await store.close()
    // As a page that an earlier write left, on which the row of another object has the same id.
    const database = new DatabaseSync(pack())
    database.exec(`
      UPDATE objects SET metadata = '{"name":"b"}' WHERE id = 1;
      UPDATE objects SET (crc32, content) = (SELECT crc32, content FROM objects WHERE id = 1)
      WHERE id = 2`)
    database.close()
    store = openStore()
    for (const key of [own, other]) {
      await expect(read(key)).rejects.toMatchObject({ code: 'unavailable' })
    }
  })
})

const DAMAGED = { code: 'unavailable', cause: { message: 'pack.sqlite is damaged' } }
