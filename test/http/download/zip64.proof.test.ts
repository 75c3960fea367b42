import { open as openFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { ArchivedFile } from '../../../src/core/files/file-ledger.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { createVersion, objectKey } from '../../../src/core/objects/object-key.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createZip, zipLength } from '../../../src/http/download/zip.ts'
import { isWithoutZip, readZipFile, run } from '../../support/read-zip.ts'

const GIB = 2 ** 30
const ZEROS = Buffer.alloc(256 * 1024)

it.skipIf(isWithoutZip)(
  'has files of more than 4 GiB, and files that begin beyond 4 GiB',
  async () => {
    const sizes = { small: 5, large: 4 * GIB + 3, 'beyond \u00e9': 7, last: 0 }
    const files = Object.entries(sizes).map(([name, size]): ArchivedFile => {
      const key = objectKey(parseUserId('alice'), createVersion())
      return { name: parseFileName(name), objectKey: key, size, updatedAt: Date.now() }
    })
    const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-zip-'))
    try {
      const path = join(folder, 'archive.zip')
      const { body } = createZip({
        files,
        open: async ({ size }) => ({
          body: Readable.from(zeros(size), { highWaterMark: 1 }),
          size,
        }),
        signal: new AbortController().signal,
      })
      expect(await writeSparse(path, body)).toBe(zipLength(files))
      const entries = await readZipFile(path)
      expect(entries.map(({ name, size }) => [name, size])).toEqual(Object.entries(sizes))
      await run('unzip', ['-tqq', path])
    } finally {
      await rm(folder, { recursive: true })
    }
  },
  300_000,
)

function* zeros(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left)
}

/** Zeros take no space on the disk. Returns the length. */
async function writeSparse(path: string, body: Readable): Promise<number> {
  const file = await openFile(path, 'w')
  try {
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (chunk.length !== ZEROS.length) await file.write(chunk, 0, chunk.length, length)
      length += chunk.length
    }
    await file.truncate(length)
    return length
  } finally {
    await file.close()
  }
}
