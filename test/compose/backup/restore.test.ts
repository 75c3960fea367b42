import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { beginUpload, cancelUpload, sendRest } from '../../support/http/tus-client.ts'
import { digest } from '../../support/objects.ts'
import { type Bed, flip, openBed } from './bed.ts'

const [SMALL, LARGE] = [2_000, 100_000]

let bed: Bed
let backups: string
let restored: string
beforeEach(async () => {
  bed = await openBed()
  backups = bed.place('backups')
  restored = bed.place('restored')
})
afterEach(() => bed[Symbol.asyncDispose]())

const restore = (options = '') => bed.run(`restore ${backups}${options}`, { DATA_DIR: restored })

const serveRestored = () => bed.start({ DATA_DIR: restored })

/** A service with a small and a large file and a backup of both; returns their digests. */
async function fill() {
  const live = await bed.start()
  const [small, large] = [await live.put('small', SMALL), await live.put('large', LARGE)]
  await bed.run(`backup ${backups}`)
  return { live, small, large }
}

describe('a restore', () => {
  it('has all of the newest copy, and the service can start', async () => {
    const { live, large } = await fill()
    const small = await live.put('small', SMALL)
    await bed.run(`backup ${backups}`)
    await live.put('later', SMALL)
    const { code, rows, err } = await restore()
    expect({ code, rows }).toMatchObject({
      code: 0,
      rows: [{ database: join(restored, 'database.sqlite'), files: 2, versions: 1, released: 0 }],
    })
    expect(err).toMatch(/^The service can start\. .*revoke tokens/)
    expect((await readdir(restored)).toSorted()).toEqual(['database.sqlite', 'objects'])
    const { get } = await serveRestored()
    const found = await Promise.all(['small', 'large', 'later'].map(get))
    expect(found).toEqual([small, large, 404])
  })

  it('has an older copy if that is named, and refuses an unknown one with those that there are', async () => {
    const { live, small } = await fill()
    const [older = ''] = await readdir(join(backups, 'copies'))
    await live.put('small', SMALL)
    await bed.run(`backup ${backups}`)
    const unknown = await restore(' --copy yesterday')
    expect(unknown).toMatchObject({ code: 1, rows: [] })
    expect(unknown.err).toContain(older)
    expect((await restore(` --copy ${older}`)).rows).toMatchObject([{ copy: older }])
    const { get } = await serveRestored()
    expect(await get('small')).toBe(small)
  })

  it('replaces neither a database nor files, and changes nothing then', async () => {
    await fill()
    const taken = await bed.run(`restore ${backups}`)
    expect(taken).toMatchObject({ code: 1, rows: [] })
    expect(taken.err).toMatch(/database\.sqlite already exists/)
    await mkdir(restored)
    await writeFile(join(restored, 'mine'), 'precious')
    const { code, err } = await restore()
    expect({ code, err }).toEqual({
      code: 1,
      err: `${restored} is not empty. A restore never replaces files. Move the folder away first.`,
    })
    expect(await readdir(restored)).toEqual(['mine'])
  })

  it('refuses a damaged database, and leaves nothing', async () => {
    await fill()
    const [copy = ''] = await readdir(join(backups, 'copies'))
    for (const [name, message] of [
      ['manifest.json', `The manifest of the copy ${copy} is damaged. Choose another with --copy.`],
      ['database.sqlite', `The database of the copy ${copy} is damaged.`],
    ] as const) {
      const undo = await flip(join(backups, 'copies', copy, name))
      expect(await restore()).toMatchObject({ code: 1, err: message })
      expect(existsSync(restored)).toBe(false)
      await undo()
    }
  })

  it('names a damaged object, and has the others', async () => {
    const { small } = await fill()
    const ada = join(backups, 'objects', 'users', 'ada')
    const object = (await readdir(ada)).find((name) => !name.includes('.')) ?? ''
    await flip(join(ada, object))
    const { code, rows } = await restore()
    expect(code).toBe(1)
    expect(rows).toMatchObject([{ kind: 'wrong_digest', file_name: 'large' }, { files: 2 }])
    const { get } = await serveRestored()
    expect(await get('small')).toBe(small)
  })

  it('refuses a copy without a manifest, and says how to choose another', async () => {
    await fill()
    const [copy = ''] = await readdir(join(backups, 'copies'))
    await rm(join(backups, 'copies', copy, 'manifest.json'))
    const { code, err } = await restore()
    expect({ code, err }).toEqual({
      code: 1,
      err: `The manifest of the copy ${copy} is damaged. Choose another with --copy.`,
    })
  })

  it('is refused beside another one to the same folder', async () => {
    const { small, large } = await fill()
    await cp(backups, bed.place('others'), { recursive: true, verbatimSymlinks: true })
    const others = bed.run(`restore ${bed.place('others')}`, { DATA_DIR: restored })
    const ran = await Promise.all([restore(), others])
    expect(new Set(ran.map(({ code }) => code))).toEqual(new Set([0, 1]))
    expect(ran.map(({ err }) => err)).toContain(
      `Another restore to ${join(restored, 'database.sqlite')} is running.`,
    )
    expect((await readdir(restored)).toSorted()).toEqual(['database.sqlite', 'objects'])
    const { get } = await serveRestored()
    expect(await Promise.all(['small', 'large'].map(get))).toEqual([small, large])
  })

  it('keeps the service from starting if it was interrupted, until the next one has finished it', async () => {
    const { small, large } = await fill()
    await restore()
    // As after a part of the objects, of this copy and another one.
    await rm(join(restored, 'database.sqlite'))
    await writeFile(join(restored, 'database.sqlite.restore'), 'half')
    const ada = join(restored, 'objects', 'users', 'ada')
    for (const name of await readdir(ada)) await rm(join(ada, name))
    await writeFile(join(ada, '01a22bb1-171c-7bcd-96f7-4fbcd105cd26'), 'stray')
    await expect(serveRestored()).rejects.toThrow(/A restore is unfinished.*"restore" again/)
    expect(existsSync(join(restored, 'database.sqlite'))).toBe(false)
    expect((await restore()).code).toBe(0)
    const { get, service } = await serveRestored()
    expect([await get('small'), await get('large')]).toEqual([small, large])
    const signal = new AbortController().signal
    const verified = await service.verifier.verify({
      userId: undefined,
      repair: false,
      readOneIn: 1,
      signal,
      onFinding: () => undefined,
    })
    expect(verified.remaining).toMatchObject({ orphaned_object: 0, missing_object: 0 })
  })

  it('is finished by the next one if it was killed once the database was in place', async () => {
    const { small } = await fill()
    await restore()
    const database = join(restored, 'database.sqlite')
    await link(database, `${database}.restore`)
    await expect(serveRestored()).rejects.toThrow('A restore is unfinished')
    const before = await readFile(database)
    expect(await restore()).toMatchObject({ code: 0 })
    expect(await readFile(database)).toEqual(before)
    expect((await readdir(restored)).toSorted()).toEqual(['database.sqlite', 'objects'])
    const { get } = await serveRestored()
    expect(await get('small')).toBe(small)
  })

  it('lets unfinished uploads go on, and forgets those that were finished since', async () => {
    const live = await bed.start()
    const [first, second] = [randomBytes(50_000), randomBytes(60_000)]
    const { url, cookie } = live
    const begin = (name: string, content: Buffer<ArrayBuffer>) =>
      beginUpload(live, {
        cookie,
        name,
        length: content.length,
        content: content.subarray(0, 20_000),
      })
    const going = await begin('going', first)
    const cancelled = await begin('cancelled', second)
    await bed.run(`backup ${backups}`)
    expect((await bed.run(`backup ${backups} --check`)).code).toBe(0)
    expect(await sendRest({ url, cookie }, going, first)).toMatchObject({ status: 204 })
    expect(await cancelUpload({ url, cookie }, cancelled)).toBe(204)
    expect((await restore()).rows).toMatchObject([{ files: 0, released: 0 }])
    const again = await serveRestored()
    const client = { url: again.url, cookie: live.cookie }
    expect(await sendRest(client, going, first)).toEqual({ status: 204, offset: 20_000 })
    expect(await sendRest(client, cancelled, second)).toEqual({ status: 204, offset: 20_000 })
    const reply = await fetch(`${again.url}/users/me/repo/going`, { headers: { cookie } })
    expect(digest(new Uint8Array(await reply.arrayBuffer()))).toBe(digest(first))
  })
})
