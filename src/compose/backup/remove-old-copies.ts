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
 * Removes all complete copies but the newest `keep` ones, then the objects that none of these names. Removes nothing if the
 * database of a copy that stays cannot be read: an older copy may be the last sound one. Can be killed at any time: a copy
 * is no longer complete before any of its objects is removed.
 */
export async function removeOldCopies(options: RemoveOldCopies): Promise<RemovedCopies> {
  const { directory, keep, onFinding, signal } = options
  const all = await listCopies(directory)
  const [kept, old] = [all.slice(0, keep), all.slice(keep)]
  using opened = new DisposableStack()
  const read = <T>({ time }: BackupCopy, work: () => T): T => {
    try {
      return work()
    } catch (error) {
      onFinding({ kind: 'damaged_database', copy: time, found: messageOf(error) })
      throw new DamagedCopy()
    }
  }
  let removedCopies = 0
  try {
    const databases = kept.map((copy) => {
      const file = join(copy.folder, DATABASE_NAME)
      return { copy, database: opened.use(read(copy, () => new DatabaseCopy(file))) }
    })
    removedCopies = await removeCopies(directory, old)
    const removedObjects = await removeUnnamed({
      directory: partsOf(directory).objects,
      isNamed: (key) =>
        databases.some(({ copy, database }) =>
          read(copy, () => database.naming(key) !== undefined),
        ),
      isUnfinished: (key) =>
        databases.some(({ copy, database }) => read(copy, () => database.naming(key) === 'upload')),
      signal,
    })
    return { copies: kept.length, removedCopies, removedObjects }
  } catch (error) {
    if (!(error instanceof DamagedCopy)) throw error
    return { copies: all.length - removedCopies, removedCopies, removedObjects: 0 }
  }
}

/** The oldest first. Resolves to their number. */
async function removeCopies(directory: string, old: readonly BackupCopy[]): Promise<number> {
  const { copies, oldCopy } = partsOf(directory)
  for (const { folder } of old.toReversed()) {
    await rename(folder, oldCopy)
    await syncDirectory(copies)
    await rm(oldCopy, { recursive: true })
  }
  return old.length
}

class DamagedCopy extends Error {}
