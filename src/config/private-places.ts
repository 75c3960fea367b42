import { chmod, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Config } from './config.ts'

export interface ClosedPlace {
  readonly path: string
  /** Previous permissions, in octal. */
  readonly mode: string
}

/**
 * Revokes other users' access to the embedded data; resolves to the places that were open. Skips places of other
 * owners, world-writable folders such as `/tmp`, and configured folders outside `DATA_DIR`, which others may use.
 */
export async function closePlaces(config: Config): Promise<readonly ClosedPlace[]> {
  const closed: ClosedPlace[] = []
  for (const path of placesOf(config)) {
    const mode = await close(path)
    if (mode !== undefined) closed.push({ path, mode })
  }
  return closed
}

function placesOf({ dataDir, database, objectStore }: Config): readonly string[] {
  const objects = objectStore.kind === 'file' ? objectStore.directory : undefined
  const file = database.kind === 'sqlite' ? database.file : undefined
  const isWithin = (path: string | undefined): path is string =>
    path?.startsWith(dataDir + sep) === true
  return [
    isWithin(objects) || isWithin(file) ? dataDir : [],
    isWithin(objects) ? objects : [],
    objects === undefined ? [] : [join(objects, 'users'), ...partsOf(join(objects, 'pack.sqlite'))],
    file === undefined ? [] : [...partsOf(file), `${file}-instances`, `${file}-reserve`],
  ].flat()
}

/** The files of an SQLite database. */
function partsOf(file: string): readonly string[] {
  return ['', '-wal', '-shm'].map((end) => file + end)
}

const OTHERS = 0o077
const WRITABLE_BY_ALL = 0o002

async function close(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined || stats.uid !== process.geteuid?.()) return undefined
  const isShared = stats.isDirectory() && (stats.mode & WRITABLE_BY_ALL) !== 0
  if (isShared || (stats.mode & OTHERS) === 0) return undefined
  const mode = stats.mode & 0o7777
  try {
    await chmod(path, mode & ~OTHERS)
  } catch {
    // A file system without permissions, or SQLite has removed the file.
    return undefined
  }
  return mode.toString(8).padStart(4, '0')
}
