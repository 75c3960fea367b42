import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from '../support/demo.ts'
import { temporaryFolder } from '../support/program.ts'
import { fillDisk, inside, missingSmallDisk, onSmallDisk } from '../support/small-disk.ts'
import { isSkipped } from '../support/needs.ts'

const MIB = 2 ** 20

let opened = new AsyncDisposableStack()

const skipped = isSkipped(await missingSmallDisk(await temporaryFolder(opened)))

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe.skipIf(skipped)('on a disk that gets full', { timeout: 180_000 }, () => {
  it('E17 the embedded store refuses, keeps what it has, and works again once there is room', async () => {
    const { demo, disk } = await startOnSmallDisk(32 * MIB, (folder) => ({
      OBJECT_STORE: `file:${join(folder, 'objects')}`,
    }))
    const filler = await fillDisk(join(disk, 'filler'), 10 * MIB)
    const kept = await place(demo, [0, 4096, 3 * MIB])

    const refused = await uploadUntilRefused(demo, { size: 5 * MIB - 1, kept })
    expect(refused).toBeGreaterThan(0)
    await expectRefusal(await put(demo, 'file-2', randomBytes(9 * MIB)))
    await expectRefusal(await post(demo, 'file-1', randomBytes(9 * MIB)))
    await expectKept(demo, kept)
    expect(await filesIn(join(disk, 'objects'))).toHaveLength(kept.size)

    await filler.remove()
    const fresh = randomBytes(9 * MIB)
    expect((await put(demo, 'file-2', fresh)).status).toBe(200)
    await expectKept(demo, kept.set('file-2', fresh))
    expect(demo.process.exitCode).toBe(null)
  })

  it('F08 the embedded database refuses, keeps what it has, and works again once there is room', async () => {
    const { demo, disk } = await startOnSmallDisk(16 * MIB, (folder) => ({
      DATABASE_URL: `sqlite:${join(folder, 'database.sqlite')}`,
    }))
    const kept = await place(demo, [0, 4096, 3 * MIB])
    const filler = await fillDisk(join(disk, 'filler'))

    // What is left of the log's last page may still take a few.
    await uploadUntilRefused(demo, { size: 4096, kept })
    await expectRefusal(await put(demo, 'file-1', randomBytes(MIB)))
    await expectRefusal(await remove(demo, 'file-2'))
    await expectKept(demo, kept)

    await filler.remove()
    const fresh = randomBytes(MIB)
    expect((await put(demo, 'file-1', fresh)).status).toBe(200)
    await expectKept(demo, kept.set('file-1', fresh))
    expect((await remove(demo, 'file-2')).status).toBe(204)
    expect(demo.process.exitCode).toBe(null)
  })

  it('E17 F08 both refuse on one disk, keep what they have, and work again once there is room', async () => {
    const { demo, disk } = await startOnSmallDisk(24 * MIB, (folder) => ({
      DATA_DIR: join(folder, 'data'),
    }))
    const kept = await place(demo, [0, 4096, 3 * MIB])
    const filler = await fillDisk(join(disk, 'filler'))
    for (const size of [0, 4096, MIB])
      await expectRefusal(await put(demo, 'file-2', randomBytes(size)))
    await expectKept(demo, kept)
    await filler.remove()
    expect((await put(demo, 'file-2', Buffer.from('room'))).status).toBe(200)
    await expectKept(demo, kept.set('file-2', Buffer.from('room')))
  })
})

/** The program, and the small disk as its test sees it. `place` says what is kept there, by its path in the program. */
async function startOnSmallDisk(
  bytes: number,
  place: (folder: string) => Readonly<Record<string, string>>,
): Promise<{ readonly demo: Demo; readonly disk: string }> {
  const folder = await temporaryFolder(opened)
  const mounted = join(folder, 'small')
  await mkdir(mounted)
  const environment = { DATA_DIR: join(folder, 'data'), ...place(mounted) }
  const demo = await startDemo({ environment, under: onSmallDisk(mounted, bytes), opened })
  return { demo, disk: inside(demo.process, mounted) }
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
  { size, kept }: { readonly size: number; readonly kept: Files },
): Promise<number> {
  for (let at = 0; at < 5000; at += 1) {
    const content = randomBytes(size)
    const reply = await post(demo, `more-${at}`, content)
    if (reply.status !== 200) {
      await expectRefusal(reply)
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

function ask(demo: Demo, { name, ...init }: RequestInit & { name: string }): Promise<Response> {
  return fetch(`${demo.url}/users/me/repo/${name}`, { ...init, headers: { cookie: demo.cookie } })
}

async function expectRefusal(reply: Response): Promise<void> {
  expect(reply.status).toBe(503)
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await reply.json()).toMatchObject({ code: 'unavailable' })
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

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}
