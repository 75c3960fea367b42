import { AppError } from './errors.ts'

/** How much room there is where this machine keeps the database and the objects. */
export interface FreeSpace {
  /**
   * Guarantees that `bytes` more, and those of all who have asked since the latest measurement, leave the floor free; that was
   * at most a second ago. Rejects with `insufficient_storage`. Where nothing can be measured it resolves.
   */
  demand(bytes: number): Promise<void>

  /**
   * For an upload whose bytes are coming: rejects with `insufficient_storage` when less than the floor was free at the latest
   * measurement, and begins the next one when that is more than a second old. `undefined` otherwise: it waits for nothing.
   */
  check(): Promise<never> | undefined
}

export interface FreeSpaceOptions {
  /** Folders, each on a file system that uploads fill; none where a server keeps the bytes. */
  readonly folders: readonly string[]
  /** The floor in bytes; 0 refuses nothing. */
  readonly leastBytes: number
  /** Bytes that are free for this process on a folder's file system. */
  readonly measure: (folder: string) => Promise<number>
}

const MAX_AGE_MS = 1_000

/**
 * Refuses uploads before the disk is full. What is left is for the database: without it no file can be deleted, no user be
 * suspended, and nothing be swept.
 */
export function createFreeSpace({ folders, leastBytes, measure }: FreeSpaceOptions): FreeSpace {
  const isUnlimited = folders.length === 0 || leastBytes === 0
  let free = Number.POSITIVE_INFINITY
  let latest: Promise<void> | undefined
  let measuredAt = Number.NEGATIVE_INFINITY

  async function measureAll(): Promise<void> {
    // A folder that is gone is the store's to complain about.
    const sizes = folders.map((folder) => measure(folder).catch(() => Number.POSITIVE_INFINITY))
    free = Math.min(...(await Promise.all(sizes)))
  }

  function refresh(): Promise<void> {
    const now = performance.now()
    if (latest === undefined || now - measuredAt > MAX_AGE_MS) {
      measuredAt = now
      latest = measureAll()
    }
    return latest
  }

  return {
    async demand(bytes) {
      if (isUnlimited) return
      await refresh()
      if (free - bytes < leastBytes) throw insufficientStorage()
      // Until the next measurement, which counts what of them has been written.
      free -= bytes
    },
    check() {
      if (isUnlimited) return undefined
      void refresh()
      return free < leastBytes ? Promise.reject(insufficientStorage()) : undefined
    },
  }
}

function insufficientStorage(): AppError {
  return new AppError('insufficient_storage', 'The service has no space left for uploads.')
}
