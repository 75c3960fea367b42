import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  IDENTITY_NAME,
  MAX_IDENTITY_BYTES,
  parseIdentity,
} from '../../core/objects/object-store.ts'
import { hasCode, TAKEN } from '../../core/system-error.ts'
import { syncDirectory } from './durable-directories.ts'
import { orMissing } from './or-missing.ts'
import { TEMPORARY } from './temporary-files.ts'

/** Implements the port's `readIdentity`. */
export async function readIdentity(root: string): Promise<string | undefined> {
  // A pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const file = await orMissing(open(join(root, IDENTITY_NAME), flags))
  try {
    const read = await file?.read(Buffer.alloc(MAX_IDENTITY_BYTES + 1))
    if (read === undefined || read.bytesRead > MAX_IDENTITY_BYTES) return undefined
    return parseIdentity(read.buffer.subarray(0, read.bytesRead))
  } finally {
    await file?.close()
  }
}

/** Implements the port's `createIdentity`: the file is whole, or absent. */
export async function createIdentity(root: string, identity: string): Promise<string> {
  const path = join(root, IDENTITY_NAME)
  const temporary = `${path}.${randomUUID()}${TEMPORARY}`
  try {
    await writeFile(temporary, `${identity}\n`, { flag: 'wx', mode: 0o600, flush: true })
    // Unlike a rename, never replaces a file.
    await link(temporary, path).catch(async (error: unknown) => {
      if (hasCode(error, WITHOUT_LINKS)) await rename(temporary, path)
      else if (!hasCode(error, TAKEN)) throw error
    })
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(root)
  const found = await readIdentity(root)
  if (found === undefined) throw new Error(`${path} holds no identity`)
  return found
}

/** Of file systems that have no hard links. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS'])
