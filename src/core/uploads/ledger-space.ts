import { AppError, isDatabaseFull } from '../errors.ts'

/**
 * What a call of the ledger, or of the user store, does to the disk of the database.
 * - `reads`: nothing.
 * - `grows`: leaves more rows, or larger ones, than it has found.
 * - `ends`: ends files. That frees objects in due time, but records the end of each.
 * - `frees`: deletes, revokes or suspends, or changes rows in place. What it adds is bounded: by rows that are there, by
 *   operators, or by the number of instances.
 */
export type WriteKind = 'reads' | 'grows' | 'ends' | 'frees'

export interface LedgerWrite {
  readonly kind: Exclude<WriteKind, 'reads'>
  /** How many rows it adds, changes or moves, at most; without those that it evicts, and those of indexes. */
  readonly rows: number
}

/** The order in which writes of the ledger are refused as the disk of the embedded database fills up. */
export type LedgerSpace = ReturnType<typeof createLedgerSpace>

/** Space on the disk of the database that belongs to the service even when other programs fill the disk. */
export interface DiskReserve {
  /** In bytes; the same at all times. */
  readonly size: number
  /** Bytes that it holds now. */
  measure(): Promise<number>
  /** Gives its space to the disk, and resolves to whether it held any. */
  release(): Promise<boolean>
  /**
   * Takes the space that it lacks. Resolves to `false` if the disk has not enough; to `true` also where no reserve can be
   * made. Concurrent calls share one attempt.
   */
  restore(): Promise<boolean>
}

export interface LedgerSpaceOptions {
  /** `MIN_FREE_SPACE`. With 0, only the reserve is kept. */
  readonly minBytes: number
  readonly measure: () => Promise<MeasuredSpace>
  readonly reserve: DiskReserve
  /** How old a measurement may be; one second by default. */
  readonly maxAgeMs?: number
}

export interface MeasuredSpace {
  /** Free bytes on the disk of the database. */
  readonly disk: number
  /** Bytes of free pages inside its file, less the bytes by which the file has yet to grow. */
  readonly pages: number
  /** Bytes of its log, which is written again from the beginning after a checkpoint. */
  readonly log: number
}

const MAX_AGE_MS = 1_000

/** How soon the disk is measured again if the last measurement has no room for a write. */
const MIN_AGE_MS = 20

/** Of any age: writes that have ended count in full, and have added less. */
const STALE = -1

/** What a write that grows adds to an empty log and to the file, at most, beside what each of its rows adds. */
const GROWTH_BYTES = 384 * 1024

/** What each row of such a write adds, at most: with the longest names in no order, it changes a page of each index. */
const GROWTH_BYTES_PER_ROW = 56 * 1024

/** What each row of another write counts as. Half of the reserve covers what such writes add to the log. */
const BYTES_PER_ROW = 4096

/** What the log takes before it is written again from the beginning: 1,000 pages, and those of the last transactions. */
const LOG_BYTES = 4.5 * 1024 * 1024

/** Left on the disk when the reserve is made. */
const MARGIN_BYTES = 1024 * 1024

/** Creates the check for an embedded database. The README of `core/quota/` has the rule. */
export function createLedgerSpace(options: LedgerSpaceOptions) {
  const { minBytes, measure, reserve, maxAgeMs = MAX_AGE_MS } = options
  const growthFloor = (minBytes / 4) * 3
  let space = { disk: Infinity, pages: 0, log: 0, reserved: reserve.size }
  let measuredAt = -Infinity
  let measuring: Promise<void> | undefined
  /** Bytes of writes that run, and of those that have ended since the measurement began. */
  let running = 0
  let ended = 0
  let releases = 0
  let releasing: Promise<boolean> | undefined

  async function measureNow(): Promise<void> {
    const endedBefore = ended
    // The database reports a missing folder.
    const unknown: MeasuredSpace = { disk: Infinity, pages: 0, log: 0 }
    const measured = await Promise.all([measure().catch(() => unknown), reserve.measure()])
    const [{ disk, pages, log }, reserved] = measured
    const missing = reserve.size - reserved
    const mayRefill = missing > 0 && disk >= missing + MARGIN_BYTES
    // Until then the previous measurement holds: a reserve that is being made for the first time is not in use.
    const isRestored = mayRefill && (await reserve.restore())
    space = isRestored
      ? { pages, log, disk: disk - missing, reserved: reserve.size }
      : { pages, log, disk, reserved }
    ended -= endedBefore
  }

  function refresh(maxAgeMs: number): Promise<void> {
    if (measuring === undefined && performance.now() - measuredAt > maxAgeMs) {
      measuredAt = performance.now()
      measuring = measureNow().finally(() => (measuring = undefined))
    }
    return measuring ?? Promise.resolve()
  }

  function isInUse(): boolean {
    // Free pages are a reserve too: SQLite's file never gives them back.
    return space.reserved + Math.max(0, space.pages) < reserve.size
  }

  function hasSpace(kind: LedgerWrite['kind'], bytes: number): boolean {
    const { disk, pages, log, reserved } = space
    const needed = bytes + running + ended
    if (kind === 'grows') {
      if (isInUse()) return false
      return minBytes === 0 || disk + Math.min(pages, minBytes / 2) - needed >= growthFloor
    }
    if (kind === 'frees') return true
    // A large transaction leaves a log that small ones do not let grow.
    const left = disk + pages + reserved + Math.max(0, log - LOG_BYTES)
    return left - needed >= reserve.size / 2
  }

  async function claim(kind: LedgerWrite['kind'], bytes: number): Promise<void> {
    if (kind !== 'frees') {
      await refresh(maxAgeMs)
      if (!hasSpace(kind, bytes)) {
        await refresh(ended > 0 ? STALE : Math.min(MIN_AGE_MS, maxAgeMs))
        if (!hasSpace(kind, bytes)) throw writeRefused(kind)
      }
    }
    running += bytes
  }

  /** Concurrent calls share one release. */
  function release(): Promise<boolean> {
    releasing ??= reserve
      .release()
      .then((hasReleased) => {
        if (hasReleased) releases += 1
        space = { ...space, disk: space.disk + space.reserved, reserved: 0 }
        measuredAt = -Infinity
        return hasReleased
      })
      .finally(() => (releasing = undefined))
    return releasing
  }

  async function repeatInReserve<T>(call: () => Promise<T>): Promise<T> {
    const releasesBefore = releases
    try {
      return await call()
    } catch (error) {
      if (!isDatabaseFull(error)) throw error
      if (releases === releasesBefore && !(await release())) throw error
      return await call()
    }
  }

  return {
    /** Whether the reserve is in use, according to the latest measurement. Then no upload may fill it. Never waits. */
    isReserveInUse(): boolean {
      void refresh(maxAgeMs)
      return isInUse()
    },
    /** Bytes that the reserve holds, at most a second ago. Makes the reserve whole if the disk has room for it. */
    async measureReserve(): Promise<number> {
      await refresh(maxAgeMs)
      return space.reserved
    },
    /**
     * Runs the write. Rejects with `insufficient_storage`, without running it, if its kind has to leave the rest of the
     * disk to others. One that ends or frees something and finds the disk full is repeated in the space of the reserve.
     */
    async run<T>(write: LedgerWrite, call: () => Promise<T>): Promise<T> {
      // Without a floor, growing writes only count for those that end something.
      const hasFloor = write.kind === 'grows' && minBytes > 0
      const bytes = hasFloor ? growthOf(write.rows) : write.rows * BYTES_PER_ROW
      await claim(write.kind, bytes)
      try {
        return await (write.kind === 'grows' ? call() : repeatInReserve(call))
      } finally {
        running -= bytes
        ended += bytes
      }
    },
  }
}

/** The bytes that a growing write of so many rows adds to the disk of the database, at most. */
export function growthOf(rows: number): number {
  return GROWTH_BYTES + rows * GROWTH_BYTES_PER_ROW
}

function writeRefused(kind: LedgerWrite['kind']): AppError {
  const accepted = kind === 'grows' ? 'only deletions are accepted' : 'nothing more can be deleted'
  return new AppError(
    'insufficient_storage',
    `The service's disk is nearly full, so ${accepted} until an operator makes room.`,
  )
}
