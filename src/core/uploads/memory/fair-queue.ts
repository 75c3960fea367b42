import { addAbortListener } from 'node:events'
import { AppError } from '../../errors.ts'

/** A request fails after this time without any bytes returned. */
const MAX_STANDSTILL_MS = 45_000

/** Limit of the total wait. Listeners close idle connections a little later. */
const MAX_WAIT_MS = 3 * MAX_STANDSTILL_MS

export interface MemoryPoolOptions {
  readonly bytes: number
  /** Bytes that only `acquire` gets: the size of the largest request of a user who may already hold some. */
  readonly keptForRequests: number
  readonly reserve: HeadroomOptions
  readonly onWait?: () => void
}

export interface MemoryRequest {
  readonly userId: string
  readonly bytes: number
  /** Called synchronously when the request is granted. */
  readonly grant?: () => void
}

interface Waiting extends MemoryRequest {
  readonly settled: PromiseWithResolvers<void>
  waitedMs: number
  firstMs: number
  givenBack: number
}

/**
 * Allocates bytes by start-time fair queueing: waiting users are served equally often, whatever the number of their
 * requests. `take` succeeds only if the largest request still fits; `acquire` waits. A reserve serves users who hold
 * little.
 *
 * It never deadlocks if each request is for all the bytes that its owner needs before it can return everything.
 * Invariant: free bytes plus the bytes of owners who need no more are at least the largest request. `take` leaves that
 * much free; grants and returns only move bytes between the two. So when all owners wait, the first request fits. Bytes
 * return to the pool before the reserve, so that small requests don't starve the first one.
 */
export class MemoryPool {
  readonly #options: MemoryPoolOptions
  readonly #reserve: Headroom
  #free: number
  readonly #held = new Map<string, number>()
  #queue: readonly Waiting[] = []
  /** The last turn served, and the next turn of each user served since. */
  #turn = 0
  readonly #nextTurns = new Map<string, number>()
  #givenBack = 0

  constructor(options: MemoryPoolOptions) {
    this.#options = options
    this.#free = options.bytes
    this.#reserve = new Headroom(options.reserve)
  }

  /** Bytes available to `take`; 0 or less when only requests are served. */
  get free(): number {
    return this.#free - this.#options.keptForRequests
  }

  get taken(): number {
    return this.#options.bytes - this.#free + this.#reserve.taken
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** The next request served: the earliest one of the users with the lowest turn. */
  get first(): Readonly<Waiting> | undefined {
    let [first] = this.#queue
    for (const waiting of this.#queue) {
      const turn = this.#turnOf(waiting)
      // No turn is lower, so a long queue is rarely scanned.
      if (turn === this.#turn) return waiting
      if (first !== undefined && turn < this.#turnOf(first)) first = waiting
    }
    return first
  }

  get lacking(): { readonly first: number; readonly all: number } {
    const all = this.#queue.reduce((sum, { bytes }) => sum + bytes, 0)
    return { first: (this.first?.bytes ?? 0) - this.#free, all: all - this.#free }
  }

  /** Returns false if too few bytes are free, or if requests wait: no call overtakes the queue. */
  take(userId: string, bytes: number): boolean {
    if (this.#queue.length > 0 || bytes > this.#free - this.#options.keptForRequests) return false
    this.#hold(userId, bytes)
    return true
  }

  /** Resolves when granted. Rejects with `unavailable` after too long a wait, and with the signal's reason. */
  async acquire({ signal, ...request }: MemoryRequest & { signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted()
    const settled = Promise.withResolvers<void>()
    const givenBack = this.#givenBack
    const waiting = { ...request, settled, waitedMs: 0, firstMs: 0, givenBack }
    this.#queue = [...this.#queue, waiting]
    this.#serve()
    using _ = addAbortListener(signal, () => this.#refuse(waiting, signal.reason))
    if (this.#queue.includes(waiting)) this.#options.onWait?.()
    await waiting.settled.promise
  }

  give(userId: string, bytes: number): void {
    if (bytes === 0) return
    const held = this.#held.get(userId) ?? 0
    const back = Math.min(held, bytes)
    if (back < held) this.#held.set(userId, held - back)
    else this.#held.delete(userId)
    this.#free += back
    if (back < bytes) this.#reserve.give(userId, bytes - back)
    this.#givenBack += bytes
    if (this.#queue.length > 0) this.#serve()
  }

  tick(ms: number): void {
    const { first } = this
    for (const waiting of this.#queue) {
      waiting.waitedMs += ms
      if (waiting === first) waiting.firstMs += ms
      if (waiting.waitedMs % MAX_STANDSTILL_MS >= ms) continue
      const isStill = waiting.givenBack === this.#givenBack
      waiting.givenBack = this.#givenBack
      if (isStill || waiting.waitedMs >= MAX_WAIT_MS) {
        this.#refuse(waiting, busy('No memory is available for this upload.'))
      }
    }
  }

  #hold(userId: string, bytes: number): void {
    this.#free -= bytes
    this.#held.set(userId, (this.#held.get(userId) ?? 0) + bytes)
  }

  #turnOf({ userId }: MemoryRequest): number {
    return Math.max(this.#turn, this.#nextTurns.get(userId) ?? 0)
  }

  #serve(): void {
    for (let first = this.first; first && first.bytes <= this.#free; first = this.first) {
      this.#turn = this.#turnOf(first)
      this.#nextTurns.set(first.userId, this.#turn + 1)
      this.#hold(first.userId, first.bytes)
      this.#grant(first)
    }
    for (const waiting of this.#queue) {
      if (this.#reserve.take(waiting.userId, waiting.bytes)) this.#grant(waiting)
    }
    for (const [userId, turn] of this.#nextTurns) {
      if (turn <= this.#turn) this.#nextTurns.delete(userId)
    }
  }

  #grant(waiting: Waiting): void {
    this.#leave(waiting)
    waiting.grant?.()
    waiting.settled.resolve()
  }

  /** Moves the user's other requests to the end. Otherwise a user with many failing requests would stay first. */
  #refuse(waiting: Waiting, reason: unknown): void {
    if (!this.#queue.includes(waiting)) return
    this.#leave(waiting)
    const isOthers = ({ userId }: Waiting): boolean => userId !== waiting.userId
    const own = this.#queue.filter((other) => !isOthers(other))
    this.#queue = [...this.#queue.filter(isOthers), ...own]
    waiting.settled.reject(reason)
    this.#serve()
  }

  #leave(waiting: Waiting): void {
    this.#queue = this.#queue.filter((other) => other !== waiting)
  }
}

export interface HeadroomOptions {
  readonly bytes: number
  readonly largest: number
}

/**
 * A reserve without a queue for users who hold little of it. A user gets more only while holding at most half as much
 * as stays free (dynamic thresholds, as in shared-buffer switches), so greedy users leave room for the next.
 */
export class Headroom {
  readonly #options: HeadroomOptions
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(options: HeadroomOptions) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  take(userId: string, bytes: number): boolean {
    const held = this.#held.get(userId) ?? 0
    const free = this.#options.bytes - this.#taken - bytes
    if (bytes > this.#options.largest || held > free / 2) return false
    this.#taken += bytes
    this.#held.set(userId, held + bytes)
    return true
  }

  give(userId: string, bytes: number): void {
    const left = (this.#held.get(userId) ?? 0) - bytes
    this.#taken -= bytes
    if (left > 0) this.#held.set(userId, left)
    else this.#held.delete(userId)
  }
}

export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
