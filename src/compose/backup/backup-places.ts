import { chmod, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { partsOf } from '../../core/backup/backup-folder.ts'
import { type EmbeddedPlaces, misplacementOf } from '../../core/backup/placement.ts'
import { ABSENT, hasCode } from '../../core/system-error.ts'
import { ensureDirectory } from '../../object-store/filesystem/durable-directories.ts'
import { PACK_NAME } from '../../object-store/filesystem/pack/pack-file.ts'

/** Prepares a new or existing folder for backups, which only its owner can read. Refuses any other folder. */
export async function openBackupFolder(directory: string, places: EmbeddedPlaces): Promise<void> {
  const { lock, objects, copies } = partsOf(directory)
  // By a link, a backup would remove from the store what no copy names.
  for (const part of [directory, join(objects, 'users'), join(objects, PACK_NAME)]) {
    await assertApart(part, places)
  }
  const names = await namesIn(directory)
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

async function assertApart(
  directory: string,
  { dataDir, database, objects }: EmbeddedPlaces,
): Promise<void> {
  const misplaced = misplacementOf(await realPathOf(directory), {
    dataDir: await realPathOf(dataDir),
    database: join(await realPathOf(dirname(database)), basename(database)),
    objects: await realPathOf(objects),
  })
  if (misplaced === undefined) return
  throw new Error(`${directory} ${MISPLACED[misplaced]}. Choose another folder.`)
}

const MISPLACED = {
  among_objects: 'lies in the folder of the objects',
  around_data: 'contains the data of the service',
} as const

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
