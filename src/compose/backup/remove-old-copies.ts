import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BackupCopy,
  DATABASE_NAME,
  listCopies,
  partsOf,
} from '../../core/backup/backup-folder.ts'
import type { BackupFinding } from '../../core/backup/finding.ts'
import type { RemovedCopies } from '../../core/backup/results.ts'
import { messageOf } from '../../core/errors.ts'
import { DatabaseCopy } from '../../database/sqlite/database-copy.ts'
import { syncDirectory } from '../../object-store/filesystem/durable-directories.ts'
import { removeUnnamed } from '../../object-store/filesystem/remove-unnamed.ts'

export interface RemoveOldCopies {
  readonly directory: string
  readonly keep: number
  readonly onFinding: (finding: BackupFinding) => void
  readonly signal: AbortSignal
}

/**
 * Removes all complete copies but the newest `keep` ones, then the objects that none of these names. Can be killed at any
 * time: a copy is no longer complete before any of its objects is removed.
 */
export async function removeOldCopies(options: RemoveOldCopies): Promise<RemovedCopies> {
  const { directory, keep } = options
  const { copies, oldCopy } = partsOf(directory)
  const all = await listCopies(directory)
  const old = all.slice(keep)
  for (const { folder } of old.toReversed()) {
    await rename(folder, oldCopy)
    await syncDirectory(copies)
    await rm(oldCopy, { recursive: true })
  }
  const kept = all.slice(0, keep)
  const removedObjects = await removeObjects(kept, options)
  return { copies: kept.length, removedCopies: old.length, removedObjects }
}

/** Removes nothing if the database of a copy that stays cannot be read. */
async function removeObjects(
  kept: readonly BackupCopy[],
  { directory, onFinding, signal }: RemoveOldCopies,
): Promise<number> {
  using opened = new DisposableStack()
  const read = <T>({ time }: BackupCopy, work: () => T): T => {
    try {
      return work()
    } catch (error) {
      onFinding({ kind: 'damaged_database', copy: time, found: messageOf(error) })
      throw new DamagedCopy()
    }
  }
  try {
    const databases = kept.map((copy) => {
      const file = join(copy.folder, DATABASE_NAME)
      return { copy, database: opened.use(read(copy, () => new DatabaseCopy(file))) }
    })
    return await removeUnnamed({
      directory: partsOf(directory).objects,
      isNamed: (key) =>
        databases.some(({ copy, database }) =>
          read(copy, () => database.naming(key) !== undefined),
        ),
      isUnfinished: (key) =>
        databases.some(({ copy, database }) => read(copy, () => database.naming(key) === 'upload')),
      signal,
    })
  } catch (error) {
    if (error instanceof DamagedCopy) return 0
    throw error
  }
}

class DamagedCopy extends Error {}
