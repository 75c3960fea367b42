import { AppError } from '../errors.ts'

/** How much room there is where this machine keeps the database and the objects. */
export interface FreeSpace {
  /**
   * Rejects with `insufficient_storage` unless a file of `bytes` would leave the floor free, beside what has been claimed since
   * the latest measurement, which is at most a second old.
   */
  assertRoom(bytes: number): Promise<void>

  /** As `assertRoom`, and claims the room. Returns what gives it back, for a file that does not come. */
  request(bytes: number): Promise<() => void>

  /**
   * Whether more bytes of an upload may come: the floor was free at the latest measurement. Begins the next one when that is
   * more than a second old, and waits for nothing.
   */
  hasRoom(): boolean
}

export interface MeasuredFolder {
  readonly path: string
  /** Whether uploaded files go there. */
  readonly holdsObjects: boolean
}

export interface FreeSpaceOptions {
  /** Each on a file system that uploads fill; none where a server keeps the bytes. */
  readonly folders: readonly MeasuredFolder[]
  /** The floor in bytes; 0 refuses nothing. */
  readonly minBytes: number
  /** Bytes that are free for this process on a folder's file system. */
  readonly measure: (path: string) => Promise<number>
}

const MAX_AGE_MS = 1_000

/**
 * Refuses uploads before the disk is full. What is left is for the database: without it no file can be deleted, no user be
 * suspended, and nothing be swept. `undefined` where nothing
 * is refused: no folder is measured, or the floor is 0.
 */
export function createFreeSpace(options: FreeSpaceOptions): FreeSpace | undefined {
  const { folders, minBytes, measure } = options
  if (folders.length === 0 || minBytes === 0) return undefined
  let measured = { free: Number.POSITIVE_INFINITY, forObjects: Number.POSITIVE_INFINITY }
  /** Bytes of files since then, of which the next measurement counts what has been written. */
  let claimed = 0
  let latest: Promise<void> | undefined
  let measuredAt = Number.NEGATIVE_INFINITY

  async function measureAll(): Promise<void> {
    const sizes = await Promise.all(
      folders.map(async ({ path, holdsObjects }) => {
        // A folder that is gone is the store's to complain about.
        const free = await measure(path).catch(() => Number.POSITIVE_INFINITY)
        return { free, forObjects: holdsObjects ? free : Number.POSITIVE_INFINITY }
      }),
    )
    measured = {
      free: Math.min(...sizes.map(({ free }) => free)),
      forObjects: Math.min(...sizes.map(({ forObjects }) => forObjects)),
    }
    claimed = 0
  }

  function refresh(): Promise<void> {
    const now = performance.now()
    if (latest === undefined || now - measuredAt > MAX_AGE_MS) {
      measuredAt = now
      latest = measureAll()
    }
    return latest
  }

  function assertFree(bytes: number): void {
    const { free, forObjects } = measured
    if (free < minBytes || forObjects - claimed - bytes < minBytes) throw insufficientStorage()
  }

  return {
    async assertRoom(bytes) {
      await refresh()
      assertFree(bytes)
    },
    async request(bytes) {
      await refresh()
      assertFree(bytes)
      claimed += bytes
      const claimedOf = latest
      return () => {
        if (latest === claimedOf) claimed = Math.max(0, claimed - bytes)
      }
    },
    hasRoom() {
      void refresh()
      return measured.free >= minBytes
    },
  }
}

export function insufficientStorage(): AppError {
  return new AppError('insufficient_storage', 'The service has no space left for uploads.')
}
