import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ArchivedFile } from '../../../src/core/files/file-ledger.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { createVersion, objectKey as keyOf } from '../../../src/core/objects/object-key.ts'
import type { OpenedObject } from '../../../src/core/objects/object-store.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createZip } from '../../../src/http/download/zip.ts'
import { zipLength } from '../../../src/http/download/zip-format.ts'
import { bytesOf, digest } from '../../support/objects.ts'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'

const CHUNK = 256 * 1024
const NEVER = new AbortController().signal

function fileOf(name: string, content: Uint8Array): ArchivedFile {
  const objectKey = keyOf(parseUserId('alice'), createVersion())
  const { byteLength: size } = content
  const updatedAt = Date.UTC(2026, 10, 21)
  return { name: parseFileName(name), objectKey, size, crc32: crc32(content), updatedAt }
}

const sevens = (size: number): Buffer => Buffer.alloc(size, 7)

function inMemory(size: number): OpenedObject {
  return { body: sevens(size), size }
}

it('has the length that was announced, for files of any number, size and name', async () => {
  const files = fc.uniqueArray(
    fc.tuple(fc.stringMatching(/^[a-c\u00e9\u{1f600}]{1,8}$/u), fc.nat({ max: 70_000 })),
    { selector: ([name]) => name, maxLength: 40 },
  )
  const property = fc.asyncProperty(files, fc.boolean(), async (named, isStream) => {
    const archived = named.map(([name, size]) => fileOf(name, sevens(size)))
    const open = async ({ size }: ArchivedFile): Promise<OpenedObject> => {
      const { body } = inMemory(size)
      return { body: isStream && body instanceof Uint8Array ? Readable.from([body]) : body, size }
    }
    const { body } = createZip({ files: archived, open, signal: NEVER })
    expect(await bytesOf(body)).toHaveLength(zipLength(archived))
  })
  await expect(fc.assert(property, { numRuns: 50 })).resolves.toBeUndefined()
})

it.skipIf(isWithoutZip)(
  'has what the contents have, in files of one chunk and of many',
  async () => {
    const contents = [0, 1, 5000, 3 * CHUNK + 5].map((size, at) => Buffer.alloc(size, at + 65))
    const files = contents.map((content, at) => fileOf(`file ${at}`, content))
    const open = async (file: ArchivedFile): Promise<OpenedObject> => {
      const content = contents[files.indexOf(file)] ?? Buffer.alloc(0)
      return { body: Readable.from(chunksOf(content)), size: content.length }
    }
    const entries = await readZip(await bytesOf(createZip({ files, open, signal: NEVER }).body))
    expect(entries.map(({ name, sha256 }) => [name, sha256])).toEqual(
      contents.map((content, at) => [`file ${at}`, digest(content)]),
    )
  },
)

it.each([
  ['the time of the file', new Date(2026, 10, 21, 12, 30, 58), new Date(2026, 10, 21, 12, 30, 58)],
  ['the earliest possible', new Date(1980, 0, 1), new Date(1980, 0, 1)],
  ['1980 before that', new Date(1979, 11, 31, 23, 59, 59), new Date(1980, 0, 1)],
  ['1980 for the epoch', new Date(0), new Date(1980, 0, 1)],
  ['the latest possible', new Date(2107, 11, 31, 23, 59, 58), new Date(2107, 11, 31, 23, 59, 58)],
  ['2107 after that', new Date(2108, 0, 1), new Date(2107, 11, 31, 23, 59, 58)],
  ['2107 for a clock that is far ahead', new Date(9999, 0, 1), new Date(2107, 11, 31, 23, 59, 58)],
])('has for an entry %s', async (_what, updated, expected) => {
  const file = { ...fileOf('a', sevens(1)), updatedAt: updated.getTime() }
  const open = async (): Promise<OpenedObject> => inMemory(1)
  const zip = await bytesOf(createZip({ files: [file], open, signal: NEVER }).body)
  const [time, date] = [zip.readUInt16LE(10), zip.readUInt16LE(12)]
  const day = [1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31] as const
  const read = new Date(...day, time >> 11, (time >> 5) & 63, (time & 31) * 2)
  expect(read).toEqual(expected)
})

function* chunksOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += CHUNK) yield content.subarray(at, at + CHUNK)
}

it('reads hardly ahead of its reader, opens one file at a time, and gives every chunk back', async () => {
  let produced = 0
  let opened = 0
  let released = 0
  function* content(): Generator<Buffer> {
    for (let chunk = 0; chunk < 20; chunk += 1) {
      produced += 1
      yield Buffer.alloc(CHUNK)
    }
  }
  const files = ['a', 'b', 'c'].map((name) => fileOf(name, Buffer.alloc(20 * CHUNK)))
  const open = async (): Promise<OpenedObject> => {
    opened += 1
    const body = Readable.from(content(), { highWaterMark: 1 })
    return { body, size: 20 * CHUNK, release: () => void (released += 1) }
  }
  const { body, release } = createZip({ files, open, signal: NEVER })
  let consumed = 0
  for await (const chunk of body) {
    release?.(chunk as Uint8Array)
    if ((chunk as Uint8Array).length === CHUNK) consumed += 1
    if (consumed % 7 === 0) await delay(5)
    expect(produced - consumed).toBeLessThanOrEqual(5)
    expect(opened).toBeLessThanOrEqual(Math.floor(produced / 20) + 1)
  }
  expect({ consumed, released, opened }).toEqual({ consumed: 60, released: 60, opened: 3 })
})

it('lets the event loop run between thousands of small files', async () => {
  const files = Array.from({ length: 3000 }, (_, at) => fileOf(`file ${at}`, sevens(10)))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 0)
  const chunks: Uint8Array[] = []
  for await (const chunk of createZip({ files, open: async () => inMemory(10), signal: NEVER })
    .body) {
    chunks.push(chunk as Uint8Array)
  }
  clearInterval(timer)
  expect(Buffer.concat(chunks)).toHaveLength(zipLength(files))
  // 580 KB in chunks of 16 KiB or a little more.
  expect(chunks.length).toBeLessThan(60)
  expect(turns).toBeGreaterThan(5)
})

it('fails with the reason for which a file cannot be read, and closes the one that it reads', async () => {
  const files = ['a', 'b'].map((name) => fileOf(name, sevens(CHUNK)))
  const gone = new Error('gone')
  const open = async (file: ArchivedFile): Promise<OpenedObject> => {
    if (file === files[1]) throw gone
    return inMemory(CHUNK)
  }
  await expect(bytesOf(createZip({ files, open, signal: NEVER }).body)).rejects.toBe(gone)

  const broken = new Error('broken')
  const source = Readable.from(
    (function* failing() {
      yield Buffer.alloc(10)
      throw broken
    })(),
  )
  const failing = { files, open: async () => ({ body: source, size: CHUNK }), signal: NEVER }
  await expect(bytesOf(createZip(failing).body)).rejects.toBe(broken)
})

it('fails at the end of a content that does not have the recorded CRC-32', async () => {
  const files = ['a', 'b'].map((name) => fileOf(name, sevens(2 * CHUNK)))
  const damaged = sevens(2 * CHUNK)
  damaged[CHUNK] = 8
  const open = async (file: ArchivedFile): Promise<OpenedObject> => {
    const content = file === files[0] ? damaged : sevens(2 * CHUNK)
    return { body: Readable.from(chunksOf(content)), size: content.length }
  }
  let sent = 0
  const reading = async (): Promise<void> => {
    for await (const chunk of createZip({ files, open, signal: NEVER }).body) {
      sent += (chunk as Uint8Array).length
    }
  }
  await expect(reading()).rejects.toMatchObject({
    code: 'internal_error',
    cause: { message: expect.stringContaining('CRC-32') as string },
  })
  expect(sent).toBeLessThan(3 * CHUNK)
})

it('closes the content that it waits for, or that comes too late, when its reader has left', async () => {
  const files = [fileOf('a', sevens(CHUNK))]
  const [endless, late] = [1, 2].map(() => new Readable({ read: () => undefined }))
  if (endless === undefined || late === undefined) throw new Error('unreachable')
  const opening = Promise.withResolvers<OpenedObject>()
  const opened = [Promise.resolve({ body: endless, size: CHUNK }), opening.promise]
  for (const content of opened) {
    const left = new AbortController()
    const { body } = createZip({ files, open: () => content, signal: left.signal })
    const ended = once(body.on('error', () => undefined).resume(), 'close').catch(() => undefined)
    await delay(10)
    left.abort(new Error('left'))
    if (content === opening.promise) opening.resolve({ body: late, size: CHUNK })
    await ended
  }
  await expect.poll(() => [endless.destroyed, late.destroyed]).toEqual([true, true])

  const half = Readable.from(chunksOf(Buffer.alloc(3 * CHUNK)), { highWaterMark: 1 })
  const open = async () => ({ body: half, size: 3 * CHUNK })
  const { body } = createZip({ files: [fileOf('a', Buffer.alloc(3 * CHUNK))], open, signal: NEVER })
  await once(body, 'readable')
  body.destroy()
  await expect.poll(() => half.destroyed).toBe(true)
})
