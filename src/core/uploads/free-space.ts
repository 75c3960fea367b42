import { AppError } from '../errors.ts'

/** Free space on this machine's file systems for the database and the objects. */
export type FreeSpace = NonNullable<ReturnType<typeof createFreeSpace>>

export interface SpaceClaim {
  /** Once measured again, the space of a claim is what the disk says, so this is a no-op. */
  release(): void
}

export interface MeasuredFolder {
  readonly path: string
  readonly holdsObjects: boolean
}

export interface DiskRoom {
  readonly bytes: number
  /** `Infinity` if the file system has no fixed number of them. */
  readonly inodes: number
}

export interface FreeSpaceOptions {
  /** Folders on the file systems that uploads fill; empty if a server stores the bytes. */
  readonly folders: readonly MeasuredFolder[]
  /** The floor. With 0, uploads are refused only while the reserve of the database is in use: inodes do not count. */
  readonly minBytes: number
  readonly measure: (path: string) => Promise<DiskRoom>
  /** `MeasuredSpace.pages` of the embedded database, if it is on the file system of the folder; else 0. */
  readonly measurePages?: (path: string) => Promise<number>
  /** `LedgerSpace.isReserveInUse` of an embedded database. */
  readonly isReserveInUse?: (() => boolean) | undefined
}

const MAX_AGE_MS = 1_000

/** Left on each disk for the logs of SQLite, and for uploads in progress. */
export const MIN_FREE_INODES = 100

/** What an upload takes of them, at most: the object, its metadata, and the folders of its user and of appends. */
export const INODES_PER_UPLOAD = 4

/**
 * Reserves space in which the database can still delete, suspend and sweep. SQLite's file never shrinks, so free pages
 * inside it count as reserved space; otherwise, rows that are long gone would refuse uploads for good. They count for
 * at most half the floor: objects and the write-ahead log cannot use them. Returns `undefined` if no folder has to be
 * checked.
 */
export function createFreeSpace(options: FreeSpaceOptions) {
  const { folders, minBytes, measure, measurePages = async () => 0, isReserveInUse } = options
  const isReserved = isReserveInUse ?? (() => false)
  if (folders.length === 0 || (minBytes === 0 && isReserveInUse === undefined)) return undefined
  let measured: Measured = NOTHING_MEASURED
  let claimed = { bytes: 0, uploads: 0 }
  let latest: Promise<void> | undefined
  let measuredAt = Number.NEGATIVE_INFINITY

  async function measureAll(): Promise<void> {
    const rooms = await Promise.all(
      folders.map(async ({ path, holdsObjects }) => {
        // The store reports a missing folder.
        const { bytes, inodes } = await measure(path).catch(() => UNBOUNDED)
        const inPages = await measurePages(path).catch(() => 0)
        const room = { bytes: bytes + Math.min(inPages, minBytes / 2), inodes }
        return { all: room, forObjects: holdsObjects ? room : UNBOUNDED }
      }),
    )
    measured = {
      all: leastOf(rooms.map(({ all }) => all)),
      forObjects: leastOf(rooms.map(({ forObjects }) => forObjects)),
    }
    claimed = { bytes: 0, uploads: 0 }
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
    if (minBytes === 0) return
    const { all, forObjects } = measured
    const left = leastOf([
      all,
      {
        bytes: forObjects.bytes - claimed.bytes - bytes,
        inodes: forObjects.inodes - (claimed.uploads + 1) * INODES_PER_UPLOAD,
      },
    ])
    if (left.bytes < minBytes) throw insufficientStorage()
    if (left.inodes < MIN_FREE_INODES) throw insufficientStorage('has nearly no free inodes')
  }

  return {
    /**
     * Rejects with `insufficient_storage` if `bytes` and earlier claims would leave less than the floor, or too few
     * inodes. The measurement is at most 1 s old.
     */
    async assertSpace(bytes: number): Promise<void> {
      await refresh()
      assertFree(bytes)
    },
    /** Like `assertSpace`, and also claims the bytes. Release the claim if they are not stored. */
    async claim(bytes: number): Promise<SpaceClaim> {
      await refresh()
      assertFree(bytes)
      claimed = { bytes: claimed.bytes + bytes, uploads: claimed.uploads + 1 }
      const claimedOf = latest
      return {
        release: () => {
          if (latest !== claimedOf) return
          claimed = {
            bytes: Math.max(0, claimed.bytes - bytes),
            uploads: Math.max(0, claimed.uploads - 1),
          }
        },
      }
    },
    /** Whether an upload may continue, according to the latest measurement. Never waits for a new one. */
    hasSpace(): boolean {
      void refresh()
      return measured.all.bytes >= minBytes && !isReserved()
    },
  }
}

interface Measured {
  /** The least of all disks. */
  readonly all: DiskRoom
  /** The least of those that hold objects. */
  readonly forObjects: DiskRoom
}

const UNBOUNDED: DiskRoom = { bytes: Infinity, inodes: Infinity }

const NOTHING_MEASURED: Measured = { all: UNBOUNDED, forObjects: UNBOUNDED }

function leastOf(rooms: readonly DiskRoom[]): DiskRoom {
  return {
    bytes: Math.min(...rooms.map(({ bytes }) => bytes)),
    inodes: Math.min(...rooms.map(({ inodes }) => inodes)),
  }
}

export function insufficientStorage(reason = 'is nearly full'): AppError {
  return new AppError(
    'insufficient_storage',
    `The service's disk ${reason}, so uploads are refused.`,
  )
}
