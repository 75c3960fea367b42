import { FairSemaphore } from '../async/fair-semaphore.ts'
import { HeldCounts } from '../quota/held-counts.ts'
import { uploadCountExceeded } from '../quota/refusal.ts'
import { LATE, MemoryAllocation } from './allocation.ts'

export interface UploadMemoryOptions {
  /** Bytes for all uploads of this process; at least `smallestBudget(partSize)`. */
  readonly budget: number
  /** Bytes of an upload that the object store collects before it sends them; 0 if it collects none. */
  readonly partSize: number
  /** Most uploads of one user that hold memory or wait for it. */
  readonly maxPerUser: number
}

/** Initial share of an upload: connection, parser and streams (100 KiB measured), and `FIRST_BYTES` of a part. */
const SHARE_BYTES = 128 * 1024

/** Shares of the budget reserved for small files and for uploads of users who hold little. */
const SMALL_FILES = 1 / 8
const FEW_UPLOADS = 1 / 16

/** Largest small file, as a share of the reserve for small files. */
const SMALL_FILE = 1 / 16

const MARGIN_BYTES = 2 ** 20

/** Uploads slower than this are evicted to make room for any other upload. */
const SLOW_BYTES_PER_SECOND = 64 * 1024

/** An upload that takes longer for a part is evicted when another user has long been first in the queue. */
const SLOW_PART_MS = 30_000
const LONG_FIRST_MS = 10_000

/** A user without an upload, who has waited this long for a share, gets one from the user who has most. */
const LONG_WAIT_MS = 10_000

const TICK_MS = 250

/** Per tick and semaphore: clients that are all refused at once would all return at once. */
const MAX_EVICTIONS = 2

/** The smallest budget that serves an upload of this part size alongside many small ones. */
export function smallestBudget(partSize: number): number {
  return 4 * (partSize + MARGIN_BYTES)
}

/**
 * The memory shared by the uploads of a process. Without free memory, uploads wait without being read, users take turns,
 * and the slowest uploads are evicted.
 */
export class UploadMemory {
  /** Initial shares: separate, so that large uploads never keep small ones out. */
  readonly #shares: FairSemaphore
  readonly #parts: FairSemaphore
  readonly #budget: number
  readonly #slowPart: number
  /** Those that wait for their share included. */
  readonly #uploads: HeldCounts
  readonly #allocations = new Set<MemoryAllocation>()
  #ticks: NodeJS.Timeout | undefined

  constructor({ budget, partSize, maxPerUser }: UploadMemoryOptions) {
    const half = Math.floor(budget / 2)
    const small = Math.floor(budget * SMALL_FILES)
    const few = Math.floor(budget * FEW_UPLOADS)
    this.#shares = new FairSemaphore({
      permits: half - small - few,
      reserve: { permits: few, largest: SHARE_BYTES },
    })
    this.#parts = new FairSemaphore({
      permits: half,
      reserve: { permits: small, largest: small * SMALL_FILE },
    })
    this.#budget = 2 * half
    this.#uploads = new HeldCounts(maxPerUser)
    this.#slowPart = Math.max(SLOW_BYTES_PER_SECOND, (partSize * 1000) / SLOW_PART_MS)
  }

  /**
   * Acquires the initial share. Rejects with `too_many_requests` beyond `maxPerUser`, or a narrow credential's share of
   * it, with `unavailable` after too long a wait, and with the signal's reason.
   */
  async allocate(upload: {
    readonly userId: string
    /** See `Actor`. */
    readonly credential?: string | undefined
    readonly signal: AbortSignal
  }): Promise<MemoryAllocation> {
    const { userId, credential, signal } = upload
    const holder = { owner: userId, credential }
    // The ledger counts an upload only once it has its share.
    const reached = this.#uploads.reached(holder)
    if (reached !== undefined) throw uploadCountExceeded(reached)
    this.#uploads.add(holder, 1)
    try {
      const wanted = { owner: userId, permits: SHARE_BYTES }
      const share = await this.#shares.acquire({ ...wanted, signal, late: LATE })
      const onEnd = (allocation: MemoryAllocation): void => {
        share.release()
        if (this.#allocations.delete(allocation)) this.#uploads.add(holder, -1)
        this.#stopWhenIdle()
      }
      const allocation = new MemoryAllocation({ userId, parts: this.#parts, onEnd })
      this.#allocations.add(allocation)
      this.#ticks ??= setInterval(() => this.#tick(), TICK_MS).unref()
      return allocation
    } catch (error) {
      this.#uploads.add(holder, -1)
      throw error
    }
  }

  usage(): { readonly budget: number; readonly taken: number; readonly waiting: number } {
    return {
      budget: this.#budget,
      taken: this.#shares.taken + this.#parts.taken,
      waiting: this.#shares.waiting + this.#parts.waiting,
    }
  }

  #stopWhenIdle(): void {
    if (this.#allocations.size > 0) return
    clearInterval(this.#ticks)
    this.#ticks = undefined
  }

  #tick(): void {
    for (const each of [...this.#allocations, this.#shares, this.#parts]) each.tick(TICK_MS)
    this.#evictFor(this.#shares, () => SHARE_BYTES)
    this.#evictFor(this.#parts, ({ partBytes }) => partBytes)
    this.#shareOut()
  }

  /**
   * An upload holds its share to its end, however large and steady it is, so turns alone would keep a user out for as
   * long as others' uploads last.
   */
  #shareOut(): void {
    const { first } = this.#shares
    if (first === undefined || first.waitedMs < LONG_WAIT_MS) return
    const byUser = Map.groupBy(this.#allocations, ({ userId }) => userId)
    const isOneLeaving = [...this.#allocations].some(({ evicted }) => evicted.aborted)
    if (isOneLeaving || byUser.has(first.owner)) return
    const [most = []] = [...byUser.values()].toSorted((a, b) => b.length - a.length)
    const [slowest] = most.toSorted((a, b) => a.bytesPerSecond - b.bytesPerSecond)
    if (most.length > 1) slowest?.evict()
  }

  /** Evicts the slowest uploads until the requests that wait can be granted. `bytesOf`: what an eviction releases. */
  #evictFor(semaphore: FairSemaphore, bytesOf: (upload: MemoryAllocation) => number): void {
    const { first } = semaphore
    if (first === undefined) return
    // Otherwise a crowd of one user that is barely not slow would keep all others out.
    const limitOf = ({ userId }: MemoryAllocation): number =>
      first.firstMs >= LONG_FIRST_MS && userId !== first.owner
        ? this.#slowPart
        : SLOW_BYTES_PER_SECOND
    const holders = [...this.#allocations].filter((upload) => bytesOf(upload) > 0)
    const leaving = holders.filter(({ evicted }) => evicted.aborted)
    let lacking = leaving.reduce((left, upload) => left - bytesOf(upload), semaphore.lacking)
    const slow = holders
      .filter((upload) => !upload.evicted.aborted && upload.bytesPerSecond < limitOf(upload))
      .toSorted((a, b) => a.bytesPerSecond - b.bytesPerSecond)
    for (const upload of slow.slice(0, MAX_EVICTIONS)) {
      if (lacking <= 0) break
      lacking -= bytesOf(upload)
      upload.evict()
    }
  }
}
