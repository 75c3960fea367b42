import { chmod, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from '../../config/backups.ts'
import { partsOf } from '../../core/backup/backup-folder.ts'
import { ABSENT, hasCode } from '../../core/system-error.ts'
import { ensureDirectory } from '../../object-store/filesystem/durable-directories.ts'

/** Where the embedded default keeps its data. */
export interface EmbeddedPlaces {
  readonly dataDir: string
  /** The database file. */
  readonly database: string
  /** The folder of the object store. */
  readonly objects: string
}

/** Prepares a new or existing folder for backups, which only its owner can read. Refuses any other folder. */
export async function openBackupFolder(directory: string, places: EmbeddedPlaces): Promise<void> {
  await assertApart(directory, places)
  const names = await namesIn(directory)
  const { lock, objects, copies } = partsOf(directory)
  if (names.length > 0 && !names.includes(basename(lock))) {
    throw new Error(`${directory} is neither empty nor a folder of backups.`)
  }
  await ensureDirectory(directory, directory)
  await closeToOthers(directory)
  for (const part of [join(objects, 'users'), copies]) await ensureDirectory(part, directory)
}

/** Resolves to the names in a folder, or to none if it is missing. Ignores what is no file of anybody. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    return names.filter((name) => name !== 'lost+found' && !name.startsWith('.'))
  } catch (error) {
    if (hasCode(error, ABSENT)) return []
    throw error
  }
}

/** A copy among the objects would be lost with them, and would copy itself around the data. */
async function assertApart(
  directory: string,
  { dataDir, database, objects }: EmbeddedPlaces,
): Promise<void> {
  const paths = [directory, objects, dataDir, dirname(database)]
  const [backup = '', store = '', ...others] = await Promise.all(paths.map(realPathOf))
  if (isWithin(backup, store)) {
    throw new Error(`${directory} lies in the folder of the objects. Choose another folder.`)
  }
  if ([store, ...others].some((place) => isWithin(place, backup))) {
    throw new Error(`${directory} contains the data of the service. Choose another folder.`)
  }
}

/** Also of a path of which only the first folders exist. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (!hasCode(error, ABSENT) || parent === path) throw error
    return resolve(await realPathOf(parent), basename(path))
  }
}

async function closeToOthers(directory: string): Promise<void> {
  const { mode, uid } = await stat(directory)
  if ((mode & 0o077) === 0 || uid !== process.geteuid?.()) return
  // A file system without permissions ignores them.
  await chmod(directory, 0o700).catch(() => undefined)
}
