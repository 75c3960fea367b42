import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tryExclusiveLock } from '../../../src/database/sqlite/exclusive-lock.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { never } from '../../support/objects.ts'
import { type Bed, flip, openBed } from './bed.ts'

const [SMALL, LARGE] = [2_000, 100_000]

let bed: Bed
beforeEach(async () => {
  bed = await openBed()
})
afterEach(() => bed[Symbol.asyncDispose]())

/** The keys of all objects in the folder of backups. */
async function keysIn(directory: string): Promise<readonly string[]> {
  const store = createFilesystemStore({ directory: join(directory, 'objects') })
  const listed = await Array.fromAsync(store.list({ prefix: 'users/', signal: never() }))
  await store.close()
  return listed.map(({ key }) => key)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  return names.toSorted()
}

describe('a backup', () => {
  it('is complete, private and sound, and the next one copies only what is new', async () => {
    const { put, send } = await bed.start()
    const directory = bed.place('backups')
    for (const name of ['a', 'b', 'c']) await put(name, SMALL)
    for (const name of ['d', 'e']) await put(name, LARGE)
    await put('a', SMALL)
    const first = await bed.run(`backup ${directory}`)
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.rows).toMatchObject([
      { files: 5, versions: 1, copied: 6, copied_bytes: 208_000, copies: 1, removed: 0 },
    ])
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
    for (let n = 0; n < 10; n += 1) await put(`new-${n}`, n % 2 === 0 ? SMALL : LARGE)
    await send('DELETE', 'b')
    const second = await bed.run(`backup ${directory}`)
    expect(second.rows).toMatchObject([{ files: 14, versions: 2, copied: 10, copies: 2 }])
    const checked = await bed.run(`backup ${directory} --check`)
    expect(checked).toMatchObject({ code: 0, rows: [{ copies: 2, objects: 16, findings: 0 }] })
    expect(await namesIn(directory)).toEqual(['backup.lock', 'copies', 'objects'])
    expect(await namesIn(join(directory, 'objects'))).toEqual([
      'pack.sqlite',
      'pack.sqlite.sha256',
      'store-id',
      'users',
    ])
  })

  it('keeps the names of files that a rebuild needs', async () => {
    const { put } = await bed.start()
    await put('large', LARGE)
    await put('small', SMALL)
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    const store = createFilesystemStore({ directory: join(directory, 'objects') })
    for (const key of await keysIn(directory)) {
      const head = await store.head({ key: key as never, signal: never() })
      expect(head?.metadata).toMatchObject({ name: expect.stringMatching(/./) as string })
    }
    await store.close()
  })

  it('keeps the newest copies, and only the objects that they name', async () => {
    const { put, send } = await bed.start({ HISTORY_LIFETIME: '0' })
    const directory = bed.place('backups')
    for (const [name, bytes] of [
      ['small', SMALL],
      ['large', LARGE],
    ] as const) {
      await put(name, bytes)
      await put(`${name}-kept`, bytes)
    }
    await bed.run(`backup ${directory} --keep 2`)
    const [oldest] = await readdir(join(directory, 'copies'))
    for (const name of ['small', 'large']) await send('DELETE', name)
    await bed.run(`backup ${directory} --keep 2`)
    expect(await keysIn(directory)).toHaveLength(4)
    const { rows } = await bed.run(`backup ${directory} --keep 2`)
    expect(rows).toMatchObject([{ copied: 0, copies: 2, removed_copies: 1, removed: 2 }])
    expect(await readdir(join(directory, 'copies'))).not.toContain(oldest)
    expect(await keysIn(directory)).toHaveLength(2)
    expect((await bed.run(`backup ${directory} --check`)).code).toBe(0)
  })

  it('removes no older copy while one that would stay cannot be read', async () => {
    const { put } = await bed.start()
    const directory = bed.place('backups')
    await put('large', LARGE)
    await bed.run(`backup ${directory}`)
    await bed.run(`backup ${directory}`)
    const copies = join(directory, 'copies')
    const sound = await readdir(copies)
    const damaged = '20991231T000000.000Z'
    await mkdir(join(copies, damaged))
    const { code, rows } = await bed.run(`backup ${directory} --keep 2`)
    expect(code).toBe(1)
    expect(rows).toMatchObject([
      { kind: 'damaged_database', copy: damaged },
      { removed_copies: 0, removed: 0 },
    ])
    expect(await readdir(copies)).toEqual(expect.arrayContaining([...sound, damaged]))
  })

  it('removes no object while the database of a copy cannot be read', async () => {
    const { put, send } = await bed.start({ HISTORY_LIFETIME: '0' })
    const directory = bed.place('backups')
    await put('large', LARGE)
    await bed.run(`backup ${directory}`)
    await send('DELETE', 'large')
    const [oldest = ''] = await readdir(join(directory, 'copies'))
    await writeFile(join(directory, 'copies', oldest, 'database.sqlite'), 'no database')
    const { code, rows } = await bed.run(`backup ${directory}`)
    expect(code).toBe(1)
    expect(rows).toMatchObject([{ kind: 'damaged_database', copy: oldest }, { removed: 0 }])
    expect(await keysIn(directory)).toHaveLength(1)
  })

  it('has what an interrupted one has copied, and removes the rest of it', async () => {
    const { put } = await bed.start()
    const directory = bed.place('backups')
    await put('large', LARGE)
    await bed.run(`backup ${directory}`)
    const [copy = ''] = await readdir(join(directory, 'copies'))
    await mkdir(join(directory, 'unfinished', 'copy'), { recursive: true })
    await writeFile(join(directory, 'unfinished', 'copy', 'database.sqlite'), 'half')
    const ada = join(directory, 'objects', 'users', 'ada')
    const stray = '01a22bb1-171c-7bcd-96f7-4fbcd105cd26'
    for (const end of ['', '.metadata', '.tmp']) await writeFile(join(ada, stray + end), 'half')
    const names = (await namesIn(ada)).filter((name) => !name.startsWith(stray))
    expect((await bed.run(`backup ${directory} --check`)).code).toBe(0)
    expect((await bed.run(`backup ${directory}`)).rows).toMatchObject([{ copied: 0, copies: 2 }])
    expect(await namesIn(ada)).toEqual(names)
    expect(existsSync(join(directory, 'unfinished'))).toBe(false)
    expect(await readdir(join(directory, 'copies'))).toContain(copy)
  })

  it('is refused beside another one to the same folder', async () => {
    const { put } = await bed.start()
    await put('a', SMALL)
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    using _ = tryExclusiveLock(join(directory, 'backup.lock'))
    expect(await bed.run(`backup ${directory}`)).toEqual({
      code: 1,
      rows: [],
      err: `Another backup to ${directory} is running.`,
    })
    expect(await readdir(join(directory, 'copies'))).toHaveLength(1)
  })

  it('is refused among the objects, around the data, and in a folder of others', async () => {
    await bed.start()
    await mkdir(bed.place('others'))
    await writeFile(join(bed.place('others'), 'mine'), 'precious')
    await symlink(join(bed.place('live'), 'objects'), bed.place('link'))
    for (const [name, message] of [
      ['live/objects/backups', 'lies in the folder of the objects'],
      ['link/backups', 'lies in the folder of the objects'],
      ['live', 'contains the data of the service'],
      ['', 'contains the data of the service'],
      ['others', 'is neither empty nor a folder of backups'],
    ] as const) {
      const { code, err } = await bed.run(`backup ${bed.place(name)}`)
      expect({ name, code, err }).toEqual({
        name,
        code: 1,
        err: expect.stringContaining(message) as string,
      })
    }
    expect(await namesIn(bed.place('others'))).toEqual(['mine'])
    expect((await bed.run(`backup ${join(bed.place('live'), 'backups')}`)).code).toBe(0)
  })

  it('is refused if links in the folder lead to the objects: what no copy names would be removed', async () => {
    const { put } = await bed.start()
    await put('a', SMALL)
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    for (const part of ['objects/pack.sqlite', 'objects/users', 'objects']) {
      await rm(join(directory, part), { recursive: true })
      await symlink(join(bed.place('live'), part), join(directory, part))
      const { code, err } = await bed.run(`backup ${directory}`)
      expect({ part, code, err }).toEqual({
        part,
        code: 1,
        err: expect.stringContaining('lies in the folder of the objects') as string,
      })
    }
  })

  it('is refused of another service, and with an object store that is not mounted', async () => {
    const { stop } = await bed.start()
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    await stop()
    const other = await bed.start({ DATA_DIR: bed.place('other') })
    await other.stop()
    const refused = await bed.run(`backup ${directory}`, { DATA_DIR: bed.place('other') })
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/backups of another object store/) as string,
    })
    await rm(join(bed.place('live'), 'objects'), { recursive: true })
    expect((await bed.run(`backup ${directory}`)).err).toMatch(/not the object store/)
    const nothing = await bed.run(`backup ${directory}`, { DATA_DIR: bed.place('nothing') })
    expect(nothing).toMatchObject({
      code: 1,
      err: expect.stringMatching(/There is no database/) as string,
    })
  })

  it('is complete although the service has lost content, and says what it lacks', async () => {
    const { put } = await bed.start()
    for (const name of ['gone', 'short', 'damaged', 'whole']) await put(name, LARGE)
    await put('packed', SMALL)
    const ada = join(bed.place('live'), 'objects', 'users', 'ada')
    const [gone = '', short = '', damaged = ''] = (await namesIn(ada)).filter(
      (name) => !name.includes('.'),
    )
    await rm(join(ada, gone))
    await writeFile(join(ada, short), 'short')
    await flip(join(ada, damaged))
    const directory = bed.place('backups')
    const { code, rows } = await bed.run(`backup ${directory}`)
    expect(code).toBe(1)
    expect(rows.map(({ kind, file_name }) => [kind, file_name].join(' '))).toEqual(
      expect.arrayContaining(['missing_object gone', 'wrong_size short', 'wrong_digest damaged']),
    )
    expect(rows.at(-1)).toMatchObject({ files: 5, copied: 2, copies: 1 })
    const checked = await bed.run(`backup ${directory} --check`)
    expect(checked.rows.at(-1)).toMatchObject({ findings: 3 })
  })
})

describe('the check of backups', () => {
  it('finds a flipped byte in an object, the pack, the database, the manifest and the identity', async () => {
    const { put } = await bed.start()
    await put('large', LARGE)
    for (let n = 0; n < 40; n += 1) await put(`small-${n}`, SMALL)
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    const files = await readdir(directory, { recursive: true, withFileTypes: true })
    const paths = files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
    const held = paths.filter((path) => !path.endsWith('backup.lock'))
    expect(held).toHaveLength(6)
    for (const path of held) {
      const undo = await flip(path)
      const { code, rows } = await bed.run(`backup ${directory} --check`)
      expect({ path, code }).toEqual({ path, code: 1 })
      expect(rows.at(-1)).toMatchObject({ findings: expect.any(Number) as number })
      await undo()
    }
    expect((await bed.run(`backup ${directory} --check`)).code).toBe(0)
  })

  it('names what is missing, in each copy that needs it once', async () => {
    const { put } = await bed.start()
    await put('large', LARGE)
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    await bed.run(`backup ${directory}`)
    const ada = join(directory, 'objects', 'users', 'ada')
    for (const name of await readdir(ada)) await rm(join(ada, name))
    const { code, rows } = await bed.run(`backup ${directory} --check`)
    expect(code).toBe(1)
    expect(rows).toMatchObject([
      { kind: 'missing_object', user_id: 'ada', file_name: 'large', recorded: LARGE },
      { copies: 2, findings: 1 },
    ])
  })

  it('works with any settings, and refuses a folder without a complete copy', async () => {
    await bed.start()
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    const settings = { DATABASE_URL: 'postgres://a:b@127.0.0.1/c', OBJECT_STORE: 's3://bucket' }
    expect((await bed.run(`backup ${directory} --check`, settings)).code).toBe(0)
    const { code, err } = await bed.run(`backup ${bed.place('nothing')} --check`)
    expect({ code, err }).toEqual({ code: 1, err: `${bed.place('nothing')} has no complete copy.` })
    expect(existsSync(bed.place('nothing'))).toBe(false)
  })

  it('waits for a backup that is running', async () => {
    await bed.start()
    const directory = bed.place('backups')
    await bed.run(`backup ${directory}`)
    const lock = new DatabaseSync(join(directory, 'backup.lock'))
    lock.exec('BEGIN EXCLUSIVE')
    setTimeout(() => lock.close(), 300)
    expect(await bed.run(`backup ${directory} --check`)).toMatchObject({
      code: 0,
      err: `A backup to ${directory} is running. Waiting for its end.`,
    })
  })
})

describe('the commands of a backup', () => {
  it.each([
    [{ DATABASE_URL: 'postgres://a:b@127.0.0.1/c' }, /pg_dump/],
    [{ OBJECT_STORE: 's3://bucket' }, /s3:\/\/bucket\/key.*mc mirror/],
  ])('say what to use instead with %o, and exit with 2', async (settings, message) => {
    for (const command of ['backup', 'restore']) {
      const environment = { DATA_DIR: bed.place('live'), ...settings }
      const { code, err } = await bed.run(`${command} ${bed.place('backups')}`, environment)
      expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) as string })
    }
    expect(existsSync(bed.place('backups'))).toBe(false)
  })

  it.each(['0', '-1', '1.5', 'a', '1001'])('refuse --keep %s', async (keep) => {
    const { code, err } = await bed.run(`backup ${bed.place('backups')} --keep=${keep}`)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/from 1 to 1000/) as string,
    })
  })
})
