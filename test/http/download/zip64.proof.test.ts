import { mkdtemp, open as openFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArchivedFile } from '../../../src/core/files/file-ledger.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { createVersion, objectKey } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createZip } from '../../../src/http/download/zip.ts'
import { zipLength } from '../../../src/http/download/zip-format.ts'
import { readZipFile, run } from '../../support/read-zip.ts'
import { findProgram } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'

const GIB = 2 ** 30
const ZEROS = Buffer.alloc(256 * 1024)

/** One file does not fit into the fields of 32 bits, and others begin behind it. */
const LARGE = { 'trip/': 0, 'trip/large': 5 * GIB + 3, 'trip/\u00e9/beyond \u{1f600}': 7, last: 0 }
/** Only the archive is that large. */
const SPLIT = {
  'trip/': 0,
  'trip/first': 2.5 * GIB,
  'trip/\u00e9/second': 2.5 * GIB + 3,
  'trip/\u00e9/beyond \u{1f600}': 7,
  last: 0,
}

const PROGRAMS = ['7zz', 'bsdtar', 'busybox', 'cat', 'java', 'python3', 'unzip']
const STREAM_UNZIP = 'import stream_unzip'
const isWithoutReaders = isSkipped(
  await whyMissing(
    Promise.all([...PROGRAMS.map(findProgram), run('python3', ['-c', STREAM_UNZIP])]),
  ),
)

describe.skipIf(isWithoutReaders)('an archive of 5 GiB and some bytes', () => {
  let folder: string
  const announced = new Map<string, number>()
  const pathOf = (name: string): string => join(folder, name)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-repository-zip-'))
    await writeFile(pathOf('Read.java'), READ_JAVA)
    await writeFile(pathOf('read.py'), READ_PYTHON)
    announced.set('large.zip', await writeArchive(pathOf('large.zip'), LARGE))
    announced.set('split.zip', await writeArchive(pathOf('split.zip'), SPLIT))
  }, 60_000)
  afterAll(() => rm(folder, { recursive: true }))

  const entries = Object.entries(LARGE)
  const names = Object.keys(LARGE)
  /** What a command writes, also of errors, when it reads the archive from a pipe. */
  const readStream = (archive: string, command: string): Promise<string> =>
    run('sh', ['-c', `cd "$0" && cat ${archive}.zip | ${command}`, folder])

  it('has the length that was announced', async () => {
    for (const [name, length] of announced) {
      const { size } = await stat(pathOf(name))
      expect([name, size]).toEqual([name, length])
    }
    expect(announced.size).toBe(2)
  })

  it.concurrent('is read by Python', { timeout: 300_000 }, async () => {
    const read = await readZipFile(pathOf('large.zip'))
    expect(read.map(({ name, size }) => [name, size])).toEqual(entries)
  })

  it.concurrent('is read by unzip without a warning', { timeout: 300_000 }, async () => {
    expect(await run('unzip', ['-tqq', pathOf('large.zip')])).toBe('')
    expect((await run('unzip', ['-Z1', pathOf('large.zip')])).trim().split('\n')).toEqual(names)
  })

  it.concurrent('is read by 7-Zip without a warning', { timeout: 300_000 }, async () => {
    const told = await run('7zz', ['t', '-bd', pathOf('large.zip')])
    expect(told).toContain('Everything is Ok')
    expect(told).not.toMatch(/warning/i)
    expect(told).toMatch(new RegExp(`Folders: 1\\s+Files: 3\\s+Size: +${5 * GIB + 10}\\s`))
  })

  it.concurrent('is streamed by bsdtar', { timeout: 300_000 }, async () => {
    const told = await readStream('large', 'bsdtar -xvOf - 2>&1 >/dev/null')
    expect(told.trim().split('\n')).toEqual(names.map((name) => `x ${name}`))
  })

  it.concurrent.each([
    ["Java's ZipInputStream", 'java Read.java 2>&1'],
    ['stream-unzip', 'python3 read.py 2>&1'],
  ])('is streamed by %s', { timeout: 300_000 }, async (_reader, command) => {
    const told = await readStream('large', command)
    expect(told.trim().split('\n')).toEqual(entries.map(([name, size]) => `${size} ${name}`))
  })

  it.concurrent('is streamed by BusyBox, which knows no ZIP64', { timeout: 300_000 }, async () => {
    const bytes = Object.values(SPLIT).reduce((sum, size) => sum + size, 0)
    expect((await readStream('split', '(busybox unzip -p - | wc -c) 2>&1')).trim()).toBe(`${bytes}`)
  })
})

const READ_JAVA = `
import java.io.PrintStream;
import java.util.zip.*;
class Read {
  public static void main(String[] arguments) throws Exception {
    var in = new ZipInputStream(System.in);
    var out = new PrintStream(System.out, true, "UTF-8");
    var buffer = new byte[1 << 18];
    ZipEntry entry;
    while ((entry = in.getNextEntry()) != null) {
      long size = 0;
      for (int read; (read = in.read(buffer)) > 0;) size += read;
      out.println(size + " " + entry.getName());
    }
  }
}
`

const READ_PYTHON = `
import sys
from stream_unzip import stream_unzip
chunks = iter(lambda: sys.stdin.buffer.read(1 << 20), b"")
for name, _size, content in stream_unzip(chunks):
    print(sum(map(len, content)), name.decode())
`

type Sizes = Readonly<Record<string, number>>

function filesOf(sizes: Sizes): readonly ArchivedFile[] {
  const userId = parseUserId('alice')
  return Object.entries(sizes).map(([name, size]) => ({
    name: parseFileName(name),
    objectKey: objectKey(userId, createVersion()),
    size,
    crc32: crcOfZeros(size),
    updatedAt: Date.UTC(2026, 10, 29),
  }))
}

function crcOfZeros(size: number): number {
  let crc = 0
  for (const chunk of zeros(size)) crc = crc32(chunk, crc)
  return crc
}

function* zeros(size: number): Generator<Buffer, void> {
  for (let left = size; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left)
}

/** Zeros take no space on the disk. Returns the length that is announced. */
async function writeArchive(path: string, sizes: Sizes): Promise<number> {
  const files = filesOf(sizes)
  const { body } = createZip({
    files,
    open: async ({ size }) => ({ body: Readable.from(zeros(size), { highWaterMark: 1 }), size }),
    signal: new AbortController().signal,
  })
  const file = await openFile(path, 'w')
  try {
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (chunk.length !== ZEROS.length) await file.write(chunk, 0, chunk.length, length)
      length += chunk.length
    }
    await file.truncate(length)
    return zipLength(files)
  } finally {
    await file.close()
  }
}
