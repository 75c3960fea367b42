import { lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from '../database.ts'

/**
 * Guarantees, once it resolves, that `file` is a whole and durable copy of the embedded database as it was at one moment
 * during the call, readable by its owner alone. The service can go on meanwhile. Rejects, and changes nothing, when
 * there is such a file already, or a `<file>.tmp`, and for a database that is not embedded.
 */
export async function backUp(
  { copyTo }: Pick<Database, 'copyTo'>,
  file: string,
): Promise<{ readonly bytes: number }> {
  if (copyTo === undefined) throw new Error('Back up a PostgreSQL database with pg_dump.')
  await assertAbsent(file)
  const temporary = `${file}.tmp`
  // It gives the copy its permissions, and keeps out a second call.
  await (await open(temporary, 'wx', 0o600)).close()
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

async function assertAbsent(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined)
  if (found !== undefined) throw new Error(`${file} is there already.`)
}

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
