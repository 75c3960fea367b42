import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { AppError } from '../core/errors.ts'
import type { DiskRoom } from '../core/uploads/free-space.ts'
import { inReserve } from '../database/sqlite/disk-reserve.ts'

export const RESERVE_IN_USE = 'the disk of the database is full; its reserve is in use'

type Start = <T>(step: () => Promise<T>) => Promise<T>

/**
 * What runs the steps of a start: in the reserve of the embedded database, if they find the disk full. A step that fails
 * where a local disk has too few inodes rejects with an error that says so.
 */
export function startIn(
  { database, objectStore }: Pick<Config, 'database' | 'objectStore'>,
  onRelease: () => void,
): Start {
  const file = database.kind === 'sqlite' ? database.file : undefined
  const folders = [
    file === undefined ? [] : dirname(file),
    objectStore.kind === 'file' ? objectStore.directory : [],
  ].flat()
  return async (step) => {
    try {
      return await (file === undefined ? step() : inReserve({ file, onRelease }, step))
    } catch (error) {
      for (const folder of folders) await assertInodes(folder, error)
      throw error
    }
  }
}

export const startAnywhere: Start = (step) => step()

/** SQLite makes a log and an index of it for the database and for the pack, and a journal for the file of instances. */
const INODES_OF_A_START = 5

async function assertInodes(folder: string, cause: unknown): Promise<void> {
  const { inodes } = await measureDisk(folder).catch(() => ({ inodes: Infinity }))
  if (inodes >= INODES_OF_A_START) return
  const detail = `The disk of ${folder} has ${inodes} free inodes, and a start needs ${INODES_OF_A_START}. Delete other files there.`
  throw new AppError('unavailable', detail, { cause })
}

/** What the file system of the folder has left for this process. */
export async function measureDisk(folder: string): Promise<DiskRoom> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  // Btrfs, FAT and others have no fixed number of inodes, and report 0 of 0.
  return { bytes: bavail * bsize, inodes: files === 0 ? Infinity : ffree }
}
