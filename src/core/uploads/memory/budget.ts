import { MemoryAllocation } from './allocation.ts'
import { MemoryPool } from './fair-queue.ts'

export interface UploadMemoryOptions {
  /** What all uploads of this process together may hold in memory, in bytes; at least `smallestBudget(partSize)`. */
  readonly budget: number
  /** The most that the object store gathers of one upload before it sends it on, in bytes; 0 when it gathers nothing. */
  readonly partSize: number
}

/** What an upload begins with: its connection, parser and streams (100 KiB were measured), and its first bytes. */
const SHARE_BYTES = 128 * 1024

/** Of the memory, an eighth is for small files, and a sixteenth for the uploads, of users who have little of it. */
const SMALL_FILES = 1 / 8
const FEW_UPLOADS = 1 / 16

/** A small file needs no more than this of what there is for small ones. */
const SMALL_FILE = 1 / 16

/** Beside the parts. */
const MARGIN_BYTES = 2 ** 20

/** An upload that sends less than this is slow, and gives way to all others. */
const SLOW_BYTES_PER_SECOND = 64 * 1024

/** One that takes longer than this for a part gives way to another user's that has long been the first in line. */
const SLOW_PART_MS = 30_000
const LONG_FIRST_MS = 10_000

const TICK_MS = 250

/** As many are on their way out at a time, since each costs a refusal and comes back; but none keeps its place for longer. */
const MAX_EVICTIONS = 2
const LONGEST_EVICTION_MS = 1_000

/** The least with which one upload of that part size, and many small ones, can go on. */
export function smallestBudget(partSize: number): number {
  return 4 * (partSize + MARGIN_BYTES)
}

/**
 * The memory of a process that uploads share. An upload takes little to begin, and more only as its bytes come and gather,
 * so that one whose client dawdles holds hardly more than was sent. When there is no more, an upload waits, unread, and
 * users are served in turn; memory that slow clients keep from others is taken from them, the slowest first.
 */
export class UploadMemory {
  /** What uploads begin with, so that large ones never keep small ones out. */
  readonly #shares: MemoryPool
  /** What the object store gathers of them. */
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

  /**
   * Takes what an upload of the user needs to begin. Rejects with `unavailable` when there is no memory for too long, and with
   * the signal's reason.
   */
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

  /** In bytes: what uploads may take in all, and have taken. And how many wait for more. */
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

  /** Takes memory from slow uploads, when others wait for it or little is left. */
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
    // A crowd of one user that is just not slow would keep all others out for as long as its parts take.
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

/** Takes so many bytes from those uploads that are slow, the slowest first, less what is already being taken. */
interface Eviction {
  readonly bytes: number
  readonly bytesOf: (upload: MemoryAllocation) => number
  readonly isSlow: (upload: MemoryAllocation) => boolean
}

/** Bytes. */
export const DEFAULT_PART_SIZE = 8 * 1024 * 1024

const MAX_PARTS = 10_000

/** Bytes of the parts in which a file of up to `size` bytes is sent: S3 takes 10,000 of them. */
export function partSizeFor(size: number, min = DEFAULT_PART_SIZE): number {
  return Math.max(min, Math.ceil(size / MAX_PARTS))
}
