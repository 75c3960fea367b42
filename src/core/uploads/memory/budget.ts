import { acquireMemory } from './acquire.ts'
import { MemoryPool } from './fair-queue.ts'
import { type MemoryAllocation, Allocation } from './allocation.ts'

export interface UploadMemoryOptions {
  /** What all uploads of this process together may hold in memory, in bytes; at least `smallestBudget(partSize)`. */
  readonly budget: number
  /** The most that the object store gathers of one upload before it sends it on, in bytes; 0 when it gathers nothing. */
  readonly partSize: number
}

/**
 * The memory of a process that uploads share. An upload takes little to begin, and more only as its bytes come and gather,
 * so that one whose client dawdles holds hardly more than was sent. When there is no room, an upload waits, unread, and
 * users are served in turn; room that slow clients keep from others is taken from them, the slowest first.
 */
export interface UploadMemory {
  /**
   * Takes what an upload of the user needs to begin; whoever gets the share disposes of it. Rejects with `unavailable` when
   * there is no room for too long, and with the signal's reason.
   */
  admit(upload: AdmitUpload): Promise<MemoryAllocation>

  /** What of the memory is in use at this moment. */
  usage(): UploadMemoryUsage
}

export interface UploadMemoryUsage {
  /** Bytes that uploads may take in all. */
  readonly budget: number
  /** Bytes of these that uploads have taken. */
  readonly taken: number
  /** Uploads that wait for more. */
  readonly waiting: number
}

export interface AdmitUpload {
  readonly userId: string
  readonly signal: AbortSignal
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

/** Makes the memory of one process. */
export function createUploadMemory({ budget, partSize }: UploadMemoryOptions): UploadMemory {
  return new Memory({ budget, partSize })
}

class Memory implements UploadMemory {
  /** What uploads begin with, so that large ones never keep small ones out. */
  readonly #shares: MemoryPool
  /** What the object store gathers of them. */
  readonly #gathered: MemoryPool
  readonly #budget: number
  readonly #partSize: number
  readonly #lowWater: number
  readonly #tenants = new Set<Allocation>()
  #ticks: NodeJS.Timeout | undefined

  constructor({ budget, partSize }: UploadMemoryOptions) {
    const half = Math.floor(budget / 2)
    const small = Math.floor(budget * SMALL_FILES)
    const few = Math.floor(budget * FEW_UPLOADS)
    this.#shares = new MemoryPool({
      bytes: half - small - few,
      keptForClaims: 0,
      reserve: { bytes: few, largest: SHARE_BYTES },
    })
    this.#gathered = new MemoryPool({
      bytes: half,
      keptForClaims: partSize,
      reserve: { bytes: small, largest: small * SMALL_FILE },
    })
    this.#budget = 2 * half
    this.#partSize = partSize
    this.#lowWater = Math.floor(half / 4)
  }

  async admit({ userId, signal }: AdmitUpload): Promise<MemoryAllocation> {
    const onWait = (): void => this.#makeRoom()
    const onEnd = (): void => this.#leave(allocation)
    const pool = this.#gathered
    const allocation = new Allocation({ userId, pool, partSize: this.#partSize, onWait, onEnd })
    const grant = (): void => this.#enter(allocation)
    const request = { userId, bytes: SHARE_BYTES, grant }
    await acquireMemory(this.#shares, { ...request, signal, onWait })
    return allocation
  }

  usage(): UploadMemoryUsage {
    const [shares, gathered] = [this.#shares, this.#gathered]
    return {
      budget: this.#budget,
      taken: shares.taken + gathered.taken,
      waiting: shares.waiting + gathered.waiting,
    }
  }

  #enter(allocation: Allocation): void {
    this.#tenants.add(allocation)
    this.#ticks ??= setInterval(() => this.#tick(), TICK_MS).unref()
  }

  #leave(allocation: Allocation): void {
    if (!this.#tenants.delete(allocation)) return
    this.#shares.give(allocation.userId, SHARE_BYTES)
    if (this.#tenants.size > 0) return
    clearInterval(this.#ticks)
    this.#ticks = undefined
  }

  #tick(): void {
    for (const tenant of this.#tenants) {
      tenant.rate.tick(TICK_MS)
      if (tenant.taken.aborted) tenant.leavingMs += TICK_MS
    }
    for (const pool of [this.#shares, this.#gathered]) pool.tick(TICK_MS)
    this.#makeRoom()
  }

  /** Takes room from slow uploads, when others wait for it or little is left. */
  #makeRoom(): void {
    const lacking = {
      shares: this.#shares.lacking.all,
      gathered: Math.max(this.#gathered.lacking.all, this.#lowWater - this.#gathered.free),
    }
    this.#evict(lacking, ({ rate }) => rate.bytesPerSecond < SLOW_BYTES_PER_SECOND)
    this.#evictFor(this.#shares, { shares: this.#shares.lacking.first, gathered: 0 })
    this.#evictFor(this.#gathered, { shares: 0, gathered: this.#gathered.lacking.first })
  }

  /** A crowd of one user that is just not slow would keep all others out for as long as its parts take. */
  #evictFor(pool: MemoryPool, lacking: Lacking): void {
    const { first } = pool
    if (first === undefined || pool.firstWaitedMs < LONG_FIRST_MS) return
    const min = (this.#partSize * 1000) / SLOW_PART_MS
    const isSlow = ({ userId, rate }: Allocation): boolean =>
      userId !== first.userId && rate.bytesPerSecond < min
    this.#evict(lacking, isSlow)
  }

  /** Takes what is lacking from those uploads, the slowest first, less what is already being taken. */
  #evict({ shares, gathered }: Lacking, isSlow: (tenant: Allocation) => boolean): void {
    if (shares <= 0 && gathered <= 0) return
    const tenants = [...this.#tenants]
    const leaving = tenants.filter(({ taken }) => taken.aborted)
    const slow = tenants.filter((tenant) => !tenant.taken.aborted && isSlow(tenant))
    slow.sort((a, b) => a.rate.bytesPerSecond - b.rate.bytesPerSecond)
    const places = MAX_EVICTIONS - leaving.filter(isQuick).length
    const left = { shares, gathered, places }
    for (const tenant of [...leaving, ...slow]) {
      if (left.shares <= 0 && (left.gathered <= 0 || tenant.claimed === 0)) continue
      left.shares -= SHARE_BYTES
      left.gathered -= tenant.claimed
      if (tenant.taken.aborted) continue
      if (left.places <= 0) return
      left.places -= 1
      tenant.evict()
    }
  }
}

function isQuick({ leavingMs }: Allocation): boolean {
  return leavingMs < LONGEST_EVICTION_MS
}

/** Bytes for which others wait. */
interface Lacking {
  readonly shares: number
  readonly gathered: number
}
