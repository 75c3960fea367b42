import { addAbortListener } from 'node:events'
import { AppError } from './errors.ts'
import { MemoryRoom, type Tenant } from './memory-room.ts'

export interface UploadMemoryOptions {
  /** What all uploads of this process together may hold in memory, in bytes; at least `smallestBudget(partSize)`. */
  readonly budget: number
  /** The most that the object store gathers of one upload before it sends it on, in bytes. */
  readonly partSize: number
}

/**
 * The memory of a process that uploads share. An upload takes little to begin, and more only as its bytes come and gather,
 * so that one whose client dawdles holds hardly more than was sent. When there is no room, an upload waits, unread, in
 * the order in which they came; room that slow clients keep from others is taken from them, the slowest first.
 */
export interface UploadMemory {
  /**
   * Takes what an upload needs to begin; whoever gets the share disposes of it. Rejects with `unavailable` when there is no
   * room for too long, and with the signal's reason.
   */
  admit(signal: AbortSignal): Promise<MemoryShare>

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

/** One upload's part of the memory. */
export interface MemoryShare extends Disposable {
  /**
   * Passes `content` on, piece by piece, and counts what it has passed as held. A piece for which there is no room waits;
   * when that takes too long, or the room is needed more by others, it fails with `unavailable`.
   */
  hold(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
  /** Waits for something else that the client has to send; fails with `unavailable` when the room is needed more by others. */
  awaitClient<T>(sent: Promise<T>): Promise<T>
  /** `bytes` of what was passed on are gone from memory. */
  release(bytes: number): void
  /** Aborts, with `unavailable`, when the room was taken from this upload. */
  readonly taken: AbortSignal
}

/** What an upload begins with: its connection, parser and streams (100 KiB were measured), and its first bytes. */
const SHARE_BYTES = 128 * 1024
const FIRST_BYTES = 32 * 1024

/** How long an upload waits for room while nobody gives any back, before it is told to come back later. */
const MAX_STANDSTILL_MS = 45_000

/** How long it waits at all; a listener closes connections on which nothing has moved for a little longer. */
const MAX_WAIT_MS = 3 * MAX_STANDSTILL_MS

/** Room is taken at most in such steps, so that little of it stays unused. */
const MAX_STEP = 2 ** 20

/** An upload counts as slow when, over this time in which its client had the turn, less than this came. */
const SLOW_WINDOW_MS = 5_000
const SLOW_BYTES_PER_SECOND = 64 * 1024

const TICK_MS = 250

/** The least with which one upload of that part size, and many small ones, can go on. */
export function smallestBudget(partSize: number): number {
  return 4 * (partSize + MAX_STEP)
}

/** Makes the memory of one process. */
export function createUploadMemory({ budget, partSize }: UploadMemoryOptions): UploadMemory {
  return new Memory({ budget, partSize })
}

class Memory implements UploadMemory {
  /** What uploads begin with: half of all, so that large ones never keep small ones out. */
  readonly #shares: MemoryRoom
  /** What the object store gathers of them. */
  readonly #gathered: MemoryRoom
  readonly #budget: number
  readonly #partSize: number
  readonly #lowWater: number
  readonly #tenants = new Set<Share>()
  #ticks: NodeJS.Timeout | undefined
  #turn = 0

  constructor({ budget, partSize }: UploadMemoryOptions) {
    const half = Math.floor(budget / 2)
    this.#shares = new MemoryRoom({ bytes: half, reserve: 0 })
    this.#gathered = new MemoryRoom({ bytes: half, reserve: partSize + MAX_STEP })
    this.#budget = 2 * half
    this.#partSize = partSize
    this.#lowWater = Math.floor(half / 4)
  }

  async admit(signal: AbortSignal): Promise<MemoryShare> {
    const onWait = (): void => this.#makeRoom()
    const onEnd = (): void => this.#leave(share)
    const nextTurn = (): number => this.#turn++
    const room = this.#gathered
    const share = new Share({ room, partSize: this.#partSize, nextTurn, onWait, onEnd })
    const onGrant = (): void => this.#enter(share)
    await claim(this.#shares, { tenant: share, bytes: SHARE_BYTES, signal, onWait, onGrant })
    return share
  }

  usage(): UploadMemoryUsage {
    const [shares, gathered] = [this.#shares, this.#gathered]
    return {
      budget: this.#budget,
      taken: shares.taken + gathered.taken,
      waiting: shares.waiting + gathered.waiting,
    }
  }

  #enter(share: Share): void {
    this.#tenants.add(share)
    this.#ticks ??= setInterval(() => this.#tick(), TICK_MS).unref()
  }

  #leave(share: Share): void {
    if (!this.#tenants.delete(share)) return
    this.#shares.give(share, SHARE_BYTES)
    if (this.#tenants.size > 0) return
    clearInterval(this.#ticks)
    this.#ticks = undefined
  }

  #tick(): void {
    for (const tenant of this.#tenants) tenant.tick()
    this.#makeRoom()
  }

  /** Takes room from slow uploads, the slowest first, when others wait for it or little is left. */
  #makeRoom(): void {
    const lacking = {
      shares: this.#shares.wanted,
      gathered: Math.max(this.#gathered.wanted, this.#lowWater) - this.#gathered.free,
    }
    if (lacking.shares <= 0 && lacking.gathered <= 0) return
    const leaving = [...this.#tenants].filter((tenant) => tenant.taken.aborted)
    const slow = [...this.#tenants].filter((tenant) => tenant.isSlow)
    for (const tenant of [...leaving, ...slow.toSorted((a, b) => a.pace - b.pace)]) {
      if (lacking.shares <= 0 && (lacking.gathered <= 0 || tenant.claimed === 0)) continue
      lacking.shares -= SHARE_BYTES
      lacking.gathered -= tenant.claimed
      tenant.evict()
    }
  }
}

interface ShareOptions {
  readonly room: MemoryRoom
  readonly partSize: number
  readonly nextTurn: () => number
  readonly onWait: () => void
  readonly onEnd: () => void
}

class Share implements MemoryShare, Tenant {
  turn: number
  /** Bytes of room that it has beside what it began with. */
  claimed = 0
  isSlow = false
  /** Bytes a second that its client sent in the last window. */
  pace = Number.POSITIVE_INFINITY
  readonly #options: ShareOptions
  readonly #taken = new AbortController()
  readonly #over = new AbortController()
  #held = 0
  /** Bytes that came since it last went to the back of the line. */
  #came = 0
  #isClientsTurn = false
  #window = { ms: 0, bytes: 0 }

  constructor(options: ShareOptions) {
    this.#options = options
    this.turn = options.nextTurn()
  }

  get taken(): AbortSignal {
    return this.#taken.signal
  }

  async *hold(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      this.#isClientsTurn = true
      for await (const piece of content) {
        this.#isClientsTurn = false
        this.#window.bytes += piece.byteLength
        this.#held += piece.byteLength
        const lacking = this.#held - this.claimed - FIRST_BYTES
        if (lacking > 0) await this.#claim(lacking)
        this.#step(piece.byteLength)
        yield piece
        this.#isClientsTurn = true
      }
    } finally {
      this.#isClientsTurn = false
    }
  }

  async awaitClient<T>(sent: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    using _ = addAbortListener(this.taken, () => reject(this.taken.reason))
    try {
      this.#isClientsTurn = true
      return await Promise.race([sent, promise])
    } finally {
      this.#isClientsTurn = false
    }
  }

  release(bytes: number): void {
    this.#held -= bytes
    this.#give(this.claimed - Math.max(0, this.#held - FIRST_BYTES))
  }

  tick(): void {
    if (!this.#isClientsTurn) return
    this.#window.ms += TICK_MS
    if (this.#window.ms < SLOW_WINDOW_MS) return
    this.pace = (this.#window.bytes * 1000) / this.#window.ms
    this.isSlow = this.pace < SLOW_BYTES_PER_SECOND
    this.#window = { ms: 0, bytes: 0 }
  }

  evict(): void {
    this.isSlow = false
    const reason = busy('The bytes came too slowly while others waited for memory.')
    this.#over.abort(reason)
    this.#taken.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#over.abort(busy('The upload is over.'))
    this.#give(this.claimed)
    this.#options.onEnd()
  }

  /**
   * With each part to the back of the line, so that all come forward, and yet what was begun is finished before more is.
   * When others wait, that leaves it one part at a time.
   */
  #step(bytes: number): void {
    const { room, partSize, nextTurn } = this.#options
    this.#came += bytes
    // Only a byte beyond a part shows the store that it is whole and not the last.
    if (this.#came <= partSize) return
    this.#came %= partSize
    room.gathered(this)
    this.turn = nextTurn()
  }

  /** In steps that double, so that whoever sends little gets little. */
  async #claim(lacking: number): Promise<void> {
    const bytes = Math.max(lacking, Math.min(this.claimed + FIRST_BYTES, MAX_STEP))
    const { room, onWait } = this.#options
    const onGrant = (): void => void (this.claimed += bytes)
    await claim(room, { tenant: this, bytes, signal: this.#over.signal, onWait, onGrant })
  }

  #give(bytes: number): void {
    if (bytes <= 0) return
    this.claimed -= bytes
    this.#options.room.give(this, bytes)
  }
}

interface ClaimOptions {
  readonly tenant: Tenant
  readonly bytes: number
  readonly signal: AbortSignal
  readonly onWait: () => void
  /** Called when the bytes are the tenant's, in the very moment. */
  readonly onGrant: () => void
}

async function claim(room: MemoryRoom, options: ClaimOptions): Promise<void> {
  const { tenant, bytes, signal, onWait, onGrant } = options
  signal.throwIfAborted()
  if (room.take(tenant, bytes)) {
    onGrant()
    return
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const grant = (): void => {
    onGrant()
    resolve()
  }
  const withdraw = room.claim(tenant, { bytes, grant })
  const fail = (reason: unknown): void => {
    withdraw()
    reject(reason)
  }
  const onAbort = (): void => fail(signal.reason)
  let before = room.givenBack
  let waitedMs = 0
  const look = (): void => {
    waitedMs += MAX_STANDSTILL_MS
    const comesForward = room.givenBack > before
    before = room.givenBack
    if (comesForward && waitedMs < MAX_WAIT_MS) return
    fail(busy('There is no memory left for this upload.'))
  }
  const timer = setInterval(look, MAX_STANDSTILL_MS)
  signal.addEventListener('abort', onAbort)
  try {
    onWait()
    await promise
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
