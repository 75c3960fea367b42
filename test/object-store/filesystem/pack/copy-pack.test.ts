import { randomBytes } from 'node:crypto'
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../../../src/core/objects/object-key.ts'
import { copyPack } from '../../../../src/object-store/filesystem/pack/copy-pack.ts'
import { createFilesystemStore } from '../../../../src/object-store/filesystem/store.ts'
import { bytesOf, freshKey, never } from '../../../support/objects.ts'
import { createFolder } from '../../../support/servers/local-server.ts'
import { cutTo, overwritePageWith } from './damage.ts'

describe('a copy of a pack', () => {
  let folders: Awaited<ReturnType<typeof createFolder>>[]
  let from: string
  let to: string

  beforeEach(async () => {
    folders = [await createFolder('live'), await createFolder('backup')]
    ;[from = '', to = ''] = folders.map(({ path }) => join(path, 'pack.sqlite'))
  })
  afterEach(() => Promise.all(folders.map((folder) => folder.remove())))

  /** Gives the store of one of the folders to `use`. */
  async function withStore<T>(
    at: 0 | 1,
    use: (store: ReturnType<typeof createFilesystemStore>) => Promise<T>,
  ): Promise<T> {
    const store = createFilesystemStore({ directory: folders[at]?.path ?? '' })
    try {
      return await use(store)
    } finally {
      await store.close()
    }
  }

  const fill = (keys: readonly ObjectKey[]): Promise<unknown> =>
    withStore(0, (store) =>
      Promise.all(
        keys.map((key) =>
          store.put({ key, body: Buffer.from(key), metadata: { name: key }, signal: never() }),
        ),
      ),
    )

  const copy = async () => {
    const unreadable: string[] = []
    const copied = await copyPack({
      from,
      to,
      onProgress: () => undefined,
      onUnreadable: ({ objectKey }) => unreadable.push(objectKey),
      signal: never(),
    })
    return { ...copied, unreadable }
  }

  it('has what the pack has, adds what is new, and keeps what was removed since', async () => {
    const first = Array.from({ length: 450 }, () => freshKey())
    await fill(first)
    expect(await copy()).toMatchObject({ objects: 450, unreadable: [] })
    const [removed = freshKey()] = first
    await withStore(0, (store) => store.remove({ key: removed, signal: never() }))
    const added = freshKey()
    await fill([added])
    expect(await copy()).toMatchObject({ objects: 1, bytes: added.length })
    await withStore(1, async (store) => {
      for (const key of [...first, added]) {
        const opened = await store.open({ key, signal: never() })
        expect((await bytesOf(opened?.body)).toString()).toBe(key)
        expect(await store.head({ key, signal: never() })).toMatchObject({
          metadata: { name: key },
        })
      }
    })
  })

  it('is one file, as for a tool that copies it', async () => {
    await fill([freshKey()])
    await copy()
    expect(await readdir(folders[1]?.path ?? '')).toEqual(['pack.sqlite'])
  })

  it('lacks only what is damaged, which it names, and has it once it is whole again', async () => {
    const keys = Array.from({ length: 20 }, () => freshKey())
    const contents = new Map(keys.map((key) => [key, randomBytes(30_000)]))
    await withStore(0, async (store) => {
      for (const [key, body] of contents) await store.put({ key, body, signal: never() })
    })
    const page = Buffer.alloc(4096)
    const file = await open(from, 'r+')
    await file.read(page, 0, 4096, 4096 * 50)
    await file.write(Buffer.alloc(4096), 0, 4096, 4096 * 50)
    const { objects, unreadable } = await copy()
    expect(objects).toBe(19)
    expect(keys).toEqual(expect.arrayContaining(unreadable))
    await file.write(page, 0, 4096, 4096 * 50)
    await file.close()
    expect(await copy()).toMatchObject({ objects: 1, unreadable: [] })
  })

  it('E18 has all objects but those on a damaged page, which it names', async () => {
    const keys = Array.from({ length: 1000 }, () => freshKey())
    await fill(keys)
    await overwritePageWith(from, keys[500] ?? '')
    const { objects, unreadable } = await copy()
    expect(unreadable).toContain(keys[500])
    expect(objects).toBe(1000 - unreadable.length)
    expect(objects).toBeGreaterThan(950)
  })

  it.each(['index', 'cut'] as const)(
    'E18 of a pack that cannot be read through fails and says why, and takes nothing from an older one (%s)',
    async (damage) => {
      const keys = Array.from({ length: 1000 }, () => freshKey())
      await fill(keys)
      await copy()
      if (damage === 'cut') await cutTo(from, 0.6)
      else await overwritePageWith(from, keys[500] ?? '', 'index')
      await expect(copy()).rejects.toThrow('pack.sqlite is damaged')
      await withStore(1, async (store) => {
        const listed = await Array.fromAsync(store.list({ prefix: 'users/', signal: never() }))
        expect(listed).toHaveLength(1000)
      })
    },
  )

  it('fails when it cannot be written, and blames no object for that', async () => {
    await fill([freshKey()])
    await copy()
    const database = new DatabaseSync(to)
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON objects
      BEGIN SELECT RAISE(ABORT, 'no room'); END`)
    database.close()
    await fill([freshKey()])
    await expect(copy()).rejects.toThrow('no room')
  })

  it('is neither made of nor added to a database that is no pack, which stays as it was', async () => {
    await fill([freshKey()])
    const other = join(folders[1]?.path ?? '', 'database.sqlite')
    const database = new DatabaseSync(other)
    database.exec('CREATE TABLE other (a)')
    database.close()
    const before = await readFile(other)
    const options = { onProgress: () => undefined, onUnreadable: () => undefined, signal: never() }
    for (const places of [
      { from: other, to },
      { from, to: other },
    ]) {
      await expect(copyPack({ ...places, ...options })).rejects.toThrow('is not a pack')
    }
    expect(await readFile(other)).toEqual(before)
    expect(await readdir(folders[1]?.path ?? '')).toEqual(['database.sqlite'])
  })

  it('is not made of a pack that does not exist', async () => {
    await expect(copy()).rejects.toThrow('no such file')
    expect(await readdir(folders[1]?.path ?? '')).toEqual([])
  })
})
