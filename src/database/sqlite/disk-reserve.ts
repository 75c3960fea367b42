import { randomBytes } from 'node:crypto'
import { open, stat, statfs, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskReserve } from '../../core/uploads/ledger-space.ts'

/** Twice what the log and the file of the database grow by until a checkpoint: the writes that free space have half. */
const RESERVE_BYTES = 8 * 1024 * 1024
const BLOCK_BYTES = 1024 * 1024

/**
 * A file beside the embedded database, `<database>-reserve`, of the size of the reserve. Any number of processes share
 * it.
 */
export function createDiskReserve(
  database: string,
  /** Called each time the reserve gives space to the disk. */
  onRelease: () => void = () => undefined,
): DiskReserve {
  const file = `${database}-reserve`
  let restoring: Promise<boolean> | undefined

  async function fill(): Promise<boolean> {
    try {
      const handle = await open(file, 'a', 0o600)
      try {
        // Random, for a file system that compresses.
        for (let { size } = await handle.stat(); size < RESERVE_BYTES; size += BLOCK_BYTES) {
          await handle.write(randomBytes(Math.min(BLOCK_BYTES, RESERVE_BYTES - size)))
        }
      } finally {
        await handle.close()
      }
      return true
    } catch (error) {
      return !isFull(error)
    }
  }

  return {
    size: RESERVE_BYTES,
    async measure() {
      try {
        return Math.min((await stat(file)).size, RESERVE_BYTES)
      } catch {
        return 0
      }
    },
    async release() {
      try {
        const { size } = await stat(file)
        await truncate(file)
        if (size > 0) onRelease()
        return size > 0
      } catch {
        return false
      }
    },
    restore: () => (restoring ??= fill().finally(() => (restoring = undefined))),
  }
}

/** Repeats a step of a start once, in the space of the reserve, if it fails while the disk is full. */
export async function inReserve<T>(
  { file, onRelease }: { readonly file: string; readonly onRelease: () => void },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(await isDiskFull(file))) throw error
    if (!(await createDiskReserve(file, onRelease).release())) throw error
    return await step()
  }
}

async function isDiskFull(database: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(dirname(database))
    return bavail * bsize < BLOCK_BYTES
  } catch {
    return false
  }
}

const FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL_CODES.has(error.code)
}
