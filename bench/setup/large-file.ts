import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

/** A file on the disk, to be sent. */
export interface LargeFile {
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

const MIB = 2 ** 20

/** Writes random content, a MiB at a time. */
export async function makeLargeFile(
  folder: string,
  { name, bytes }: { readonly name: string; readonly bytes: number },
): Promise<LargeFile> {
  const path = join(folder, name)
  const cipher = createCipheriv('aes-128-ctr', randomBytes(16), Buffer.alloc(16))
  const hash = createHash('sha256')
  const out = createWriteStream(path)
  for (let left = bytes; left > 0; left -= MIB) {
    const chunk = cipher.update(Buffer.alloc(Math.min(left, MIB)))
    hash.update(chunk)
    if (!out.write(chunk)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return { path, bytes, sha256: hash.digest('hex') }
}

/** Copies a file into files of `bytes`, the last of which may be smaller. */
export async function splitFile(
  file: LargeFile,
  bytes: number,
): Promise<readonly Omit<LargeFile, 'sha256'>[]> {
  const prefix = `${file.path}-slice-`
  await runProgram('split', ['-d', '-a', '4', '-b', String(bytes), file.path, prefix], SPLIT_MS)
  return Array.from({ length: Math.ceil(file.bytes / bytes) }, (_, at) => ({
    path: `${prefix}${String(at).padStart(4, '0')}`,
    bytes: Math.min(bytes, file.bytes - at * bytes),
  }))
}

const SPLIT_MS = 120_000

/** Throws unless the disk has that much room. */
export async function expectRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= bytes) return
  throw new Error(`It needs ${Math.ceil(bytes / 2 ** 30)} GiB of free disk.`)
}
