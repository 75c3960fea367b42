import { AppError } from '../errors.ts'

/** Free space on this machine's file systems for the database and the objects. */
export interface FreeSpace {
  /**
   * Rejects with `insufficient_storage` if `bytes` and earlier claims would leave less than the floor. The measurement
   * is at most 1 s old.
   */
  assertRoom(bytes: number): Promise<void>

  /** Like `assertRoom`, and also claims the bytes. Release the claim if they are not stored. */
  claim(bytes: number): Promise<SpaceClaim>

  /** Whether an upload may continue, according to the latest measurement. Never waits for a new one. */
  hasRoom(): boolean
}

export interface SpaceClaim {
  /** Once measured again, the space of a claim is what the disk says, so this is a no-op. */
  release(): void
}

export interface MeasuredFolder {
  readonly path: string
  readonly holdsObjects: boolean
}

export interface FreeSpaceOptions {
  /** Folders on the file systems that uploads fill; empty if a server stores the bytes. */
  readonly folders: readonly MeasuredFolder[]
  /** The floor. With 0, uploads are refused only while the reserve of the database is in use. */
  readonly minBytes: number
  readonly measure: (path: string) => Promise<number>
  /** `MeasuredSpace.pages` of the embedded database, if it is on the file system of the folder; else 0. */
  readonly measurePages?: (path: string) => Promise<number>
  /** `LedgerSpace.isReserveInUse` of an embedded database. */
  readonly isReserveInUse?: (() => boolean) | undefined
}

const MAX_AGE_MS = 1_000

/**
 * Reserves space in which the database can still delete, suspend and sweep. SQLite's file never shrinks, so free pages
 * inside it count as reserved space; otherwise, rows that are long gone would refuse uploads for good. They count for
 * at most half the floor: objects and the write-ahead log cannot use them. Returns `undefined` if no folder has to be
 * checked.
 */
export function createFreeSpace(options: FreeSpaceOptions): FreeSpace | undefined {
  const { folders, minBytes, measure, measurePages = async () => 0, isReserveInUse } = options
  const isReserved = isReserveInUse ?? (() => false)
  if (folders.length === 0 || (minBytes === 0 && isReserveInUse === undefined)) return undefined
  let measured = { free: Number.POSITIVE_INFINITY, forObjects: Number.POSITIVE_INFINITY }
  let claimed = 0
  let latest: Promise<void> | undefined
  let measuredAt = Number.NEGATIVE_INFINITY

  async function measureAll(): Promise<void> {
    const sizes = await Promise.all(
      folders.map(async ({ path, holdsObjects }) => {
        // The store reports a missing folder.
        const onDisk = await measure(path).catch(() => Number.POSITIVE_INFINITY)
        const inPages = await measurePages(path).catch(() => 0)
        const free = onDisk + Math.min(inPages, minBytes / 2)
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
    if (minBytes === 0) return Promise.resolve()
    const now = performance.now()
    if (latest === undefined || now - measuredAt > MAX_AGE_MS) {
      measuredAt = now
      latest = measureAll()
    }
    return latest
  }

  function assertFree(bytes: number): void {
    if (isReserved()) throw insufficientStorage()
    const { free, forObjects } = measured
    if (minBytes === 0) return
    if (free < minBytes || forObjects - claimed - bytes < minBytes) throw insufficientStorage()
  }

  return {
    async assertRoom(bytes) {
      await refresh()
      assertFree(bytes)
    },
    async claim(bytes) {
      await refresh()
      assertFree(bytes)
      claimed += bytes
      const claimedOf = latest
      return {
        release: () => {
          if (latest === claimedOf) claimed = Math.max(0, claimed - bytes)
        },
      }
    },
    hasRoom() {
      void refresh()
      return measured.free >= minBytes && !isReserved()
    },
  }
}

export function insufficientStorage(): AppError {
  return new AppError(
    'insufficient_storage',
    "The service's disk is nearly full, so uploads are refused.",
  )
}
