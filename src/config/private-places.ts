import { chmod, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Config } from './config.ts'

export interface ClosedPlace {
  readonly path: string
  /** The permissions that it had, in octal. */
  readonly mode: string
}

type Places = Pick<Config, 'dataDir' | 'database' | 'objectStore'>

/**
 * Closes the folders and files of the embedded places to other users of the machine, as new ones are from the start, and
 * resolves to those that were open. A place that belongs to another user stays as it is, and so does a folder that
 * everyone may write to, such as `/tmp`, and a folder outside `DATA_DIR` that a setting names: others may use it too.
 */
export async function closePlaces(config: Places): Promise<readonly ClosedPlace[]> {
  const closed: ClosedPlace[] = []
  for (const path of placesOf(config)) {
    const mode = await close(path)
    if (mode !== undefined) closed.push({ path, mode })
  }
  return closed
}

function placesOf({ dataDir, database, objectStore }: Places): readonly string[] {
  const objects = objectStore.kind === 'file' ? objectStore.directory : undefined
  const file = database.kind === 'sqlite' ? database.file : undefined
  const isWithin = (path: string | undefined): path is string =>
    path?.startsWith(dataDir + sep) === true
  return [
    ...(isWithin(objects) || isWithin(file) ? [dataDir] : []),
    ...(isWithin(objects) ? [objects] : []),
    ...(objects === undefined ? [] : [join(objects, 'users')]),
    ...(file === undefined ? [] : ['', '-wal', '-shm', '-instances'].map((end) => file + end)),
  ]
}

const OTHERS = 0o077
const WRITABLE_BY_ALL = 0o002

/** Resolves to the permissions that the place had, or to `undefined` where it was not changed. */
async function close(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined || stats.uid !== process.geteuid?.()) return undefined
  const isShared = stats.isDirectory() && (stats.mode & WRITABLE_BY_ALL) !== 0
  if (isShared || (stats.mode & OTHERS) === 0) return undefined
  const mode = stats.mode & 0o7777
  try {
    await chmod(path, mode & ~OTHERS)
  } catch {
    // A file system without permissions, or a file that SQLite has removed meanwhile.
    return undefined
  }
  return mode.toString(8).padStart(4, '0')
}
