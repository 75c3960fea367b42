import { randomBytes } from 'node:crypto'
import { statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MIN_FREE_INODES } from '../../../src/core/uploads/free-space.ts'
import { forTest } from '../../support/for-test.ts'
import type { Demo } from '../../support/service/demo.ts'
import { eventually } from '../../support/eventually.ts'
import { filesIn } from '../../support/folder.ts'
import { fillDisk, missingSmallDisk, runInside } from '../../support/faults/small-disk.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { secondRunOf, startOnSmallDisk } from './demo-on-small-disk.ts'

const MIB = 2 ** 20

const skipped = isSkipped(await missingSmallDisk())

describe.skipIf(skipped)('on a disk that gets full', { timeout: 180_000 }, () => {
  it('E17 the embedded store refuses, keeps what it has, and works again once there is room', async () => {
    const { demo, disk } = await startOnDisk(32 * MIB, (folder) => ({
      OBJECT_STORE: `file:${join(folder, 'objects')}`,
    }))
    const filler = await fillDisk(join(disk, 'filler'), 10 * MIB)
    const kept = await place(demo, [0, 4096, 3 * MIB])

    const refused = await uploadUntilRefused(demo, { size: 5 * MIB - 1, kept })
    expect(refused).toBeGreaterThan(0)
    await expectRefusal(await put(demo, 'file-2', randomBytes(9 * MIB)))
    await expectRefusal(await post(demo, 'file-1', randomBytes(9 * MIB)))
    await fillDisk(join(disk, 'rest'))
    await uploadUntilRefused(demo, { size: 4096, kept })
    await expectKept(demo, kept)
    const large = [...kept.values()].filter(({ length }) => length > 32 * 1024)
    const files = await filesIn(join(disk, 'objects', 'users'))
    expect(files.filter((name) => !name.endsWith('.metadata'))).toHaveLength(large.length)

    await filler.remove()
    const fresh = randomBytes(9 * MIB)
    expect((await put(demo, 'file-2', fresh)).status).toBe(200)
    await expectKept(demo, kept.set('file-2', fresh))
    expect(demo.process.exitCode).toBe(null)
  })

  it('F08 the embedded database refuses all but deletions, keeps what it has, and works again once there is room', async () => {
    const { demo, disk } = await startOnDisk(16 * MIB, (folder) => ({
      DATABASE_URL: `sqlite:${join(folder, 'database.sqlite')}`,
    }))
    const kept = await place(demo, [0, 4096, 3 * MIB])
    const filler = await fillDisk(join(disk, 'filler'))

    // What is left of the log's last page may still take a few.
    await uploadUntilRefused(demo, { size: 4096, kept })
    await expectRefusal(await put(demo, 'file-1', randomBytes(MIB)))
    expect((await remove(demo, 'file-2')).status).toBe(204)
    kept.delete('file-2')
    await expectRefusal(await put(demo, 'file-1', randomBytes(MIB)), NO_SPACE)
    await expectKept(demo, kept)

    await filler.remove()
    const fresh = randomBytes(MIB)
    await eventually(async () => expect((await put(demo, 'file-1', fresh)).status).toBe(200))
    await expectKept(demo, kept.set('file-1', fresh))
    expect((await remove(demo, 'file-1')).status).toBe(204)
    expect(demo.process.exitCode).toBe(null)
  })

  it('F08 the service starts again on a full disk after it was killed, reads, and deletes', async () => {
    const { demo, disk, end } = await startOnSmallDisk({
      bytes: 24 * MIB,
      runs: 2,
      settings: (folder) => ({ DATA_DIR: join(folder, 'data'), MIN_FREE_SPACE: '0' }),
      opened: forTest(),
    })
    const kept = await place(demo, [0, 4096, 3 * MIB])
    const filler = await fillDisk(join(disk, 'filler'))
    await end('SIGKILL')
    const again = await eventually(async () => secondRunOf(demo))
    await expectKept(again, kept)
    expect((await remove(again, 'file-2')).status).toBe(204)
    kept.delete('file-2')
    await expectRefusal(await put(again, 'file-1', randomBytes(MIB)), NO_SPACE)
    await filler.remove()
    await eventually(async () =>
      expect((await put(again, 'file-3', Buffer.from('room'))).status).toBe(200),
    )
    await expectKept(again, kept.set('file-3', Buffer.from('room')))
  })

  it('E17 F08 uploads leave inodes for a start, and a start without them says so', async () => {
    const { demo, disk, end } = await startOnSmallDisk({
      bytes: 64 * MIB,
      inodes: 2 * MIN_FREE_INODES,
      runs: 3,
      settings: (folder) => ({ DATA_DIR: join(folder, 'data'), MIN_FREE_SPACE: '1MiB' }),
      opened: forTest(),
    })
    const kept = await place(demo, [0, 4096, 3 * MIB])
    // None of these is in the pack.
    const stored = await uploadUntilRefused(demo, { size: 33 * 1024, kept, code: NO_SPACE })
    expect(stored).toBeGreaterThan(10)
    expect((await statfs(disk)).ffree).toBeGreaterThanOrEqual(MIN_FREE_INODES)
    expect((await remove(demo, 'more-0')).status).toBe(204)
    kept.delete('more-0')

    await end('SIGTERM')
    const again = await eventually(async () => secondRunOf(demo), 20_000)
    await expectKept(again, kept)

    const { ffree } = await statfs(disk)
    for (let at = 0; at < ffree; at++) await writeFile(join(disk, `other-${at}`), '')
    await expectKept(again, kept)
    await end('SIGTERM')
    await eventually(async () => {
      expect(demo.output()).toMatch(/has [0-4] free inodes, and a start needs 5/)
    }, 20_000)
  })

  it('E17 F08 both refuse on one disk, keep what they have, and work again once there is room', async () => {
    const { demo, disk } = await startOnDisk(24 * MIB, (folder) => ({
      DATA_DIR: join(folder, 'data'),
    }))
    const kept = await place(demo, [0, 4096, 3 * MIB])
    const filler = await fillDisk(join(disk, 'filler'))
    for (const size of [0, 4096, MIB]) {
      const refused = await put(demo, 'file-2', randomBytes(size))
      // The end of the one before may have taken the reserve.
      const isReserveUsed = (await refused.clone().text()).includes(NO_SPACE)
      await expectRefusal(refused, isReserveUsed ? NO_SPACE : 'unavailable')
    }
    await expectKept(demo, kept)
    await filler.remove()
    const fresh = Buffer.from('room')
    // The free space that the service knows is up to a second old.
    await eventually(async () => expect((await put(demo, 'file-2', fresh)).status).toBe(200))
    await expectKept(demo, kept.set('file-2', fresh))
  })

  it('E17 F08 both take no upload below the floor of free space, and do all else', async () => {
    const floor = 8 * MIB
    const { demo, disk } = await startOnDisk(32 * MIB, (folder) => ({
      DATA_DIR: join(folder, 'data'),
      MIN_FREE_SPACE: '8MiB',
    }))
    const filler = await fillDisk(join(disk, 'filler'), 4 * MIB)
    const kept = await place(demo, [0, 4096, 3 * MIB])
    await expectRefusal(await put(demo, 'file-2', randomBytes(25 * MIB)), NO_SPACE)
    const refused = await uploadUntilRefused(demo, { size: MIB, kept, code: NO_SPACE })
    expect(refused).toBeGreaterThan(0)
    const { bavail, bsize } = await statfs(disk)
    // An upload more than the measurement knew of, and the log of the database.
    expect(bavail * bsize).toBeGreaterThan(floor - 4 * MIB)
    await expectRefusal(await put(demo, 'file-0', randomBytes(MIB)), NO_SPACE)
    expect(await readyOf(demo)).toMatchObject({ status: 'ready' })
    await expectKept(demo, kept)
    for (const name of [...kept.keys()].filter((name) => name.startsWith('more-'))) {
      expect((await remove(demo, name)).status).toBe(204)
      kept.delete(name)
    }
    await expectKept(demo, kept)
    await filler.remove()
    await eventually(async () =>
      expect((await put(demo, 'file-0', Buffer.from('room'))).status).toBe(200),
    )
    await expectKept(demo, kept.set('file-0', Buffer.from('room')))
  })

  it('E17 F08 a disk full of garbage says so, and recovers by itself once that is due', async () => {
    const { demo, disk, mounted } = await startOnDisk(24 * MIB, (folder) => ({
      DATA_DIR: join(folder, 'data'),
      // Otherwise what is replaced is no garbage for 30 days.
      HISTORY_LIFETIME: '0',
    }))
    const kept = await place(demo, [0, 4096, MIB])
    for (let version = 0; version < 8; version += 1) {
      const content = randomBytes(MIB)
      expect((await put(demo, 'file-2', content)).status).toBe(200)
      kept.set('file-2', content)
    }
    const database = join(mounted, 'data', 'database.sqlite')
    const dueAt = await setGarbageDue(demo, database, GARBAGE_DUE_MS)
    await fillDisk(join(disk, 'filler'))
    // The log may begin anew in between, and then has room for a while.
    await eventually(async () => {
      await changeUntilRefused(demo)
      expect(await readyOf(demo)).toMatchObject({ code: 'unavailable', database: 'full' })
    })
    await expectKept(demo, kept)
    expect(Date.now()).toBeLessThan(dueAt)

    const fresh = randomBytes(MIB)
    await eventually(
      async () => expect((await put(demo, 'file-2', fresh)).status).toBe(200),
      100_000,
    )
    expect(Date.now()).toBeGreaterThan(dueAt)
    expect(await readyOf(demo)).toMatchObject({ status: 'ready' })
    await expectKept(demo, kept.set('file-2', fresh))
    expect((await remove(demo, 'file-1')).status).toBe(204)
    expect(demo.process.exitCode).toBe(null)
  })
})

const NO_SPACE = 'insufficient_storage'

/** Long enough for the disk to be filled first. */
const GARBAGE_DUE_MS = 30_000

/** Has all garbage due in a while, since the shortest GARBAGE_DELAY is ten minutes; says when. */
async function setGarbageDue(demo: Demo, file: string, afterMs: number): Promise<number> {
  const dueAt = Date.now() + afterMs
  const program = `
    const { DatabaseSync } = require('node:sqlite')
    const database = new DatabaseSync(process.argv[1], { timeout: 5_000 })
    console.log(database.prepare('UPDATE garbage SET not_before = ?').run(${dueAt}).changes)`
  expect(Number(await runInside(demo.process, [process.execPath, '-e', program, file]))).toBe(8)
  return dueAt
}

/** Has the database write, and no object, until it can't. */
async function changeUntilRefused(demo: Demo): Promise<void> {
  for (let at = 0; at < 5000; at += 1) {
    const visibility = at % 2 === 0 ? 'users' : 'private'
    const reply = await ask(demo, {
      name: 'file-0',
      method: 'PATCH',
      body: JSON.stringify({ visibility }),
      headers: { 'Content-Type': 'application/json' },
    })
    if (reply.status !== 200) {
      await expectRefusal(reply)
      return
    }
    await reply.text()
  }
  throw new Error('The disk does not get full')
}

async function readyOf(demo: Demo): Promise<unknown> {
  return (await fetch(`${demo.url}/readyz`)).json()
}

/** `place` says what is kept on the disk, by its path in the program. */
function startOnDisk(bytes: number, place: (folder: string) => Readonly<Record<string, string>>) {
  const settings = (folder: string) => ({ MIN_FREE_SPACE: '0', ...place(folder) })
  return startOnSmallDisk({ bytes, settings, opened: forTest() })
}

/** What each name holds. */
type Files = Map<string, Buffer>

async function place(demo: Demo, sizes: readonly number[]): Promise<Files> {
  const files: Files = new Map()
  for (const [at, size] of sizes.entries()) {
    const content = randomBytes(size)
    expect((await put(demo, `file-${at}`, content)).status).toBe(200)
    files.set(`file-${at}`, content)
  }
  return files
}

/** Uploads new files, which it adds to those that are kept, and returns how many there was room for. */
async function uploadUntilRefused(
  demo: Demo,
  { size, kept, code }: { readonly size: number; readonly kept: Files; readonly code?: string },
): Promise<number> {
  for (let at = 0; at < 5000; at += 1) {
    const content = randomBytes(size)
    const reply = await post(demo, `more-${at}`, content)
    if (reply.status !== 200) {
      await expectRefusal(reply, code)
      return at
    }
    kept.set(`more-${at}`, content)
  }
  throw new Error('The disk does not get full')
}

function put(demo: Demo, name: string, body: Buffer): Promise<Response> {
  return ask(demo, { name, method: 'PUT', body })
}

function post(demo: Demo, name: string, content: Buffer): Promise<Response> {
  const body = new FormData()
  body.set('file', new Blob([content]), name)
  return ask(demo, { name, method: 'POST', body })
}

function remove(demo: Demo, name: string): Promise<Response> {
  return ask(demo, { name, method: 'DELETE' })
}

function ask(
  demo: Demo,
  {
    name,
    headers,
    ...init
  }: Omit<RequestInit, 'headers'> & {
    readonly name: string
    readonly headers?: Readonly<Record<string, string>>
  },
): Promise<Response> {
  return fetch(`${demo.url}/users/me/repo/${name}`, {
    ...init,
    headers: { ...headers, cookie: demo.cookie },
  })
}

async function expectRefusal(reply: Response, code = 'unavailable'): Promise<void> {
  expect(reply.status).toBe(503)
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await reply.json()).toMatchObject({ code })
}

/** Asserts that these files and no others are there, byte for byte, and that the figures are theirs. */
async function expectKept(demo: Demo, files: Files): Promise<void> {
  for (const [name, content] of files) {
    const reply = await ask(demo, { name, method: 'GET' })
    const body = Buffer.from(await reply.arrayBuffer())
    expect({ name, exact: body.equals(content) }).toEqual({ name, exact: true })
  }
  const headers = { cookie: demo.cookie }
  const used = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  const usage = await fetch(`${demo.url}/users/me/capacity`, { headers })
  expect(await usage.json()).toMatchObject({ used, file_count: files.size })
}
