import { addAbortListener } from 'node:events'
import { AppError } from '../../errors.ts'

/** How long a request waits while nobody gives anything back, before it is refused. */
const MAX_STANDSTILL_MS = 45_000

/** How long it waits at all; a listener closes connections on which nothing has moved for a little longer. */
const MAX_WAIT_MS = 3 * MAX_STANDSTILL_MS

export interface MemoryPoolOptions {
  /** Bytes in all, without the reserve. */
  readonly bytes: number
  /** Bytes of these that are not taken but requested: as many as the largest request of a user who may have taken some. */
  readonly keptForRequests: number
  /** From which requests of users who have little are granted though the rest is taken. */
  readonly reserve: HeadroomOptions
  /** Called when a request has to wait. */
  readonly onWait?: () => void
}

export interface MemoryRequest {
  readonly userId: string
  readonly bytes: number
  /** Called when the bytes are the user's, in the very moment. */
  readonly grant?: () => void
}

interface Waiting extends MemoryRequest {
  readonly settled: PromiseWithResolvers<void>
  /** For how long it has waited, and for how long as the first, as far as ticks have shown it. */
  waitedMs: number
  firstMs: number
  /** Bytes that the pool had been given back when it was last looked at whether others come forward. */
  givenBack: number
}

/**
 * Shares out a number of bytes. They can be taken as they are needed, as long as the largest request still fits beside; what
 * can't be taken is requested, and waits. Each user is served as often as any other who waits, however many requests
 * either has: those of one user are a turn apart, and a new user begins with the present turn (start-time fair queueing).
 * A small request of a user who has little does not wait: there is a reserve for it.
 *
 * It never comes to a standstill when each request asks for all that is missing until all of it, what was taken before
 * included, can be given back. For what is free, together with what those have who have all that they need, is never less
 * than the largest request: taking leaves that much free; a grant moves bytes from the one to the other, and adds what its
 * user had taken; giving back moves them the other way. So when nobody is left who has all, the first request is served.
 * What is granted from the reserve comes on top. What a user gives back is the pool's as long as the user has any of it, so
 * that the first request gets what others give back, however many small requests these have.
 */
export class MemoryPool {
  readonly #options: MemoryPoolOptions
  readonly #reserve: Headroom
  #free: number
  /** What each user has of the pool, without what is from the reserve. */
  readonly #held = new Map<string, number>()
  /** In the order in which they came. */
  #queue: readonly Waiting[] = []
  /** The turn that was served last, and the next one of each user who has been served since. */
  #turn = 0
  readonly #nextTurns = new Map<string, number>()
  /** Bytes that have been given back so far. */
  #givenBack = 0

  constructor(options: MemoryPoolOptions) {
    this.#options = options
    this.#free = options.bytes
    this.#reserve = new Headroom(options.reserve)
  }

  /** Bytes that can be taken; none, or less, when only requests are served. */
  get free(): number {
    return this.#free - this.#options.keptForRequests
  }

  /** Bytes that were taken or granted. */
  get taken(): number {
    return this.#options.bytes - this.#free + this.#reserve.taken
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#queue.length
  }

  /** The request that is served next: of the users with the lowest turn, the one that came first. */
  get first(): Readonly<Waiting> | undefined {
    let [first] = this.#queue
    for (const waiting of this.#queue) {
      const turn = this.#turnOf(waiting)
      // None is lower, so a long queue is seldom gone through.
      if (turn === this.#turn) return waiting
      if (first !== undefined && turn < this.#turnOf(first)) first = waiting
    }
    return first
  }

  /** Bytes that are missing for the first of the requests, and for all of them. */
  get lacking(): { readonly first: number; readonly all: number } {
    const all = this.#queue.reduce((sum, { bytes }) => sum + bytes, 0)
    return { first: (this.first?.bytes ?? 0) - this.#free, all: all - this.#free }
  }

  /** Takes `bytes` for the user, or says that they are not there. Nobody overtakes those who wait. */
  take(userId: string, bytes: number): boolean {
    if (this.#queue.length > 0 || bytes > this.#free - this.#options.keptForRequests) return false
    this.#hold(userId, bytes)
    return true
  }

  /** Resolves when the request is granted. Rejects with `unavailable` when that takes too long, and with the signal's reason. */
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

  /** Takes back `bytes` of what the user has. */
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

  /** So much time has passed: refuses what has waited too long. */
  tick(ms: number): void {
    const { first } = this
    for (const waiting of this.#queue) {
      waiting.waitedMs += ms
      if (waiting === first) waiting.firstMs += ms
      if (waiting.waitedMs % MAX_STANDSTILL_MS >= ms) continue
      const isStill = waiting.givenBack === this.#givenBack
      waiting.givenBack = this.#givenBack
      if (isStill || waiting.waitedMs >= MAX_WAIT_MS) {
        this.#refuse(waiting, busy('There is no memory left for this upload.'))
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

  /** Leaves the turn to the user's next request, behind those of others: else a crowd that waits in vain would stay first. */
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
  /** Bytes in all. */
  readonly bytes: number
  /** The most bytes that are given at once. */
  readonly largest: number
}

/**
 * Memory for users who have little of it, beside what others fill. A user who has some gets more only while that is no more
 * than half of what is left free (dynamic thresholds, as switches share their buffers): so greedy users, as long as they are
 * fewer than there are places, leave one for the next, however long each keeps what it has. Nobody waits here: it is there at
 * once or not at all.
 */
export class Headroom {
  readonly #options: HeadroomOptions
  /** Of each user that has any. */
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(options: HeadroomOptions) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes `bytes` for the user, or says that they are not there for this one. */
  take(userId: string, bytes: number): boolean {
    const held = this.#held.get(userId) ?? 0
    const free = this.#options.bytes - this.#taken - bytes
    if (bytes > this.#options.largest || held > free / 2) return false
    this.#taken += bytes
    this.#held.set(userId, held + bytes)
    return true
  }

  /** Takes back `bytes` of what the user has of it. */
  give(userId: string, bytes: number): void {
    const left = (this.#held.get(userId) ?? 0) - bytes
    this.#taken -= bytes
    if (left > 0) this.#held.set(userId, left)
    else this.#held.delete(userId)
  }
}

/** What an upload is told for which there is no memory, or no longer. */
export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
