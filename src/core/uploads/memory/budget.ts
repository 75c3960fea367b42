import { MemoryAllocation } from './allocation.ts'
import { MemoryPool } from './fair-queue.ts'

export interface UploadMemoryOptions {
  /** Bytes for all uploads of this process; at least `smallestBudget(partSize)`. */
  readonly budget: number
  /** Bytes of an upload that the object store collects before it sends them; 0 if it collects none. */
  readonly partSize: number
}

/** Initial share of an upload: connection, parser and streams (100 KiB measured), and its first bytes. */
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

const TICK_MS = 250

/** Each eviction causes a refusal and a retry, so only a few run at a time; one that takes too long stops counting. */
const MAX_EVICTIONS = 2
const LONGEST_EVICTION_MS = 1_000

/** The smallest budget that serves an upload of this part size alongside many small ones. */
export function smallestBudget(partSize: number): number {
  return 4 * (partSize + MARGIN_BYTES)
}

/**
 * The memory shared by the uploads of a process. An upload gets more only as its bytes arrive, so a slow client holds
 * hardly more than it sent. Without free memory, uploads wait without being read, users take turns, and the slowest
 * uploads are evicted.
 */
export class UploadMemory {
  /** Initial shares: separate, so that large uploads never keep small ones out. */
  readonly #shares: MemoryPool
  readonly #gathered: MemoryPool
  readonly #budget: number
  readonly #partSize: number
  readonly #allocations = new Set<MemoryAllocation>()
  #ticks: NodeJS.Timeout | undefined

  constructor({ budget, partSize }: UploadMemoryOptions) {
    const half = Math.floor(budget / 2)
    const small = Math.floor(budget * SMALL_FILES)
    const few = Math.floor(budget * FEW_UPLOADS)
    const onWait = (): void => this.#evictSlow()
    this.#shares = new MemoryPool({
      bytes: half - small - few,
      keptForRequests: 0,
      reserve: { bytes: few, largest: SHARE_BYTES },
      onWait,
    })
    this.#gathered = new MemoryPool({
      bytes: half,
      keptForRequests: partSize,
      reserve: { bytes: small, largest: small * SMALL_FILE },
      onWait,
    })
    this.#budget = 2 * half
    this.#partSize = partSize
  }

  /** Allocates the initial share. Rejects with `unavailable` after too long a wait, and with the signal's reason. */
  async admit(upload: { userId: string; signal: AbortSignal }): Promise<MemoryAllocation> {
    const { userId, signal } = upload
    signal.throwIfAborted()
    const options = { userId, pool: this.#gathered, partSize: this.#partSize }
    const allocation = new MemoryAllocation({ ...options, onEnd: this.#leave })
    if (!this.#shares.take(userId, SHARE_BYTES)) {
      await this.#shares.acquire({ userId, bytes: SHARE_BYTES, signal })
    }
    this.#allocations.add(allocation)
    this.#ticks ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return allocation
  }

  usage(): { readonly budget: number; readonly taken: number; readonly waiting: number } {
    const pools = [this.#shares, this.#gathered]
    return {
      budget: this.#budget,
      taken: pools.reduce((sum, { taken }) => sum + taken, 0),
      waiting: pools.reduce((sum, { waiting }) => sum + waiting, 0),
    }
  }

  readonly #leave = (allocation: MemoryAllocation): void => {
    if (!this.#allocations.delete(allocation)) return
    this.#shares.give(allocation.userId, SHARE_BYTES)
    if (this.#allocations.size > 0) return
    clearInterval(this.#ticks)
    this.#ticks = undefined
  }

  #tick(): void {
    for (const part of [...this.#allocations, this.#shares, this.#gathered]) part.tick(TICK_MS)
    this.#evictSlow()
  }

  #evictSlow(): void {
    this.#evictFor(this.#shares, { bytesOf: () => SHARE_BYTES, minFree: 0 })
    this.#evictFor(this.#gathered, { bytesOf: ({ room }) => room, minFree: this.#budget / 8 })
  }

  #evictFor(
    pool: MemoryPool,
    { bytesOf, minFree }: Pick<Eviction, 'bytesOf'> & { minFree: number },
  ): void {
    const { first, lacking } = pool
    const isSlow: Eviction['isSlow'] = ({ bytesPerSecond }) =>
      bytesPerSecond < SLOW_BYTES_PER_SECOND
    this.#evict({ bytes: Math.max(lacking.all, minFree - pool.free), bytesOf, isSlow })
    if (first === undefined || first.firstMs < LONG_FIRST_MS) return
    // Otherwise a crowd of one user that is barely not slow would keep all others out.
    const isSlower: Eviction['isSlow'] = ({ userId, bytesPerSecond }) =>
      userId !== first.userId && bytesPerSecond < (this.#partSize * 1000) / SLOW_PART_MS
    this.#evict({ bytes: lacking.first, bytesOf, isSlow: isSlower })
  }

  #evict({ bytes, bytesOf, isSlow }: Eviction): void {
    const allocations = [...this.#allocations]
    const leaving = allocations.filter(({ taken }) => taken.aborted)
    const slow = allocations.filter((upload) => !upload.taken.aborted && isSlow(upload))
    slow.sort((a, b) => a.bytesPerSecond - b.bytesPerSecond)
    let lacking = leaving.reduce((left, upload) => left - bytesOf(upload), bytes)
    let places =
      MAX_EVICTIONS - leaving.filter(({ leavingMs }) => leavingMs < LONGEST_EVICTION_MS).length
    for (const upload of slow) {
      if (lacking <= 0 || places <= 0) return
      if (bytesOf(upload) === 0) continue
      lacking -= bytesOf(upload)
      places -= 1
      upload.evict()
    }
  }
}

interface Eviction {
  readonly bytes: number
  readonly bytesOf: (upload: MemoryAllocation) => number
  readonly isSlow: (upload: MemoryAllocation) => boolean
}
