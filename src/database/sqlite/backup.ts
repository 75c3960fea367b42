import { lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from '../database.ts'

/**
 * Guarantees a complete, durable copy of the embedded database as of one moment, readable by its owner only. The
 * service can run meanwhile. Rejects, without changes, if `file` or `<file>.tmp` exists, or for PostgreSQL.
 */
export async function backUp(
  { copyTo }: Pick<Database, 'copyTo'>,
  file: string,
): Promise<{ readonly bytes: number }> {
  if (copyTo === undefined) throw new Error('Back up a PostgreSQL database with pg_dump.')
  await assertAbsent(file)
  const temporary = `${file}.tmp`
  await createAlone(temporary)
  try {
    await copyTo(temporary)
    const bytes = await synchronise(temporary)
    await rename(temporary, file)
    await synchronise(dirname(file))
    return { bytes }
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

export async function assertAbsent(file: string, hint = ''): Promise<void> {
  const found = await lstat(file).catch(() => undefined)
  if (found !== undefined) throw new Error(`${file} already exists.${hint}`)
}

/**
 * Creates an empty file for its owner only. Rejects if it exists: another call may be writing to it, and only the
 * operator knows whether that call was killed.
 */
export async function createAlone(temporary: string): Promise<void> {
  await assertAbsent(temporary, ABANDONED)
  await (await open(temporary, 'wx', 0o600)).close()
}

const ABANDONED = ' Another command may be writing it. If that command was killed, delete the file.'

/** Guarantees that a file, or the entries of a folder, are on disk; resolves to its size in bytes. */
export async function synchronise(path: string): Promise<number> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
