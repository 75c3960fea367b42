import { addAbortListener } from 'node:events'
import { AppError } from '../errors.ts'
import type { Permit } from './body-memory.ts'

export interface FairSemaphoreOptions {
  readonly bytes: number
  /** In addition, for users who hold little of it. Their requests of up to `largest` bytes do not queue. */
  readonly reserve: { readonly bytes: number; readonly largest: number }
}

export interface Acquire {
  readonly userId: string
  readonly bytes: number
}

interface Waiting extends Acquire {
  readonly granted: PromiseWithResolvers<Permit>
  waitedMs: number
  firstMs: number
}

/** Listeners close idle connections a little later. */
const MAX_WAIT_MS = 135_000

/**
 * A weighted semaphore that is fair to users, however many requests each of them has: the user who holds least is
 * served first, and users who hold the same take turns. No request overtakes the first one, except those that the
 * reserve serves.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  #free: number
  /** Bytes by user; those of the reserve apart. */
  readonly #held = new Map<string, number>()
  readonly #reserved = new Map<string, number>()
  #takenOfReserve = 0
  /** The requests of each user, in the order of the users' turns. */
  readonly #queue = new Map<string, readonly Waiting[]>()

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    this.#free = options.bytes
  }

  get taken(): number {
    return this.#options.bytes - this.#free + this.#takenOfReserve
  }

  get waiting(): number {
    return this.#all.length
  }

  /** The next request served. */
  get first(): Readonly<Waiting> | undefined {
    let first: Waiting | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [userId, [own]] of this.#queue) {
      const held = this.#held.get(userId) ?? 0
      if (held < least) [first, least] = [own, held]
    }
    return first
  }

  /** Bytes that must be released before every waiting request is granted. */
  get lacking(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, -this.#free)
  }

  /** Rejects with `unavailable` after too long a wait, and with the signal's reason. */
  async acquire({
    signal,
    ...request
  }: Acquire & { readonly signal: AbortSignal }): Promise<Permit> {
    signal.throwIfAborted()
    const permit = this.tryAcquire(request)
    if (permit !== undefined) return permit
    const granted = Promise.withResolvers<Permit>()
    const waiting = { ...request, granted, waitedMs: 0, firstMs: 0 }
    this.#queue.set(request.userId, [...this.#of(request.userId), waiting])
    using _ = addAbortListener(signal, () => this.#refuse(waiting, signal.reason))
    return await granted.promise
  }

  tryAcquire(request: Acquire): Permit | undefined {
    const isFree = this.#queue.size === 0 && request.bytes <= this.#free
    return isFree ? this.#grantFree(request) : this.#grantReserved(request)
  }

  tick(ms: number): void {
    const { first } = this
    for (const waiting of this.#all) {
      waiting.waitedMs += ms
      if (waiting === first) waiting.firstMs += ms
      if (waiting.waitedMs >= MAX_WAIT_MS) {
        this.#refuse(waiting, busy('No memory is available for this upload.'))
      }
    }
  }

  get #all(): readonly Waiting[] {
    return [...this.#queue.values()].flat()
  }

  #of(userId: string): readonly Waiting[] {
    return this.#queue.get(userId) ?? []
  }

  #grantFree({ userId, bytes }: Acquire): Permit {
    this.#free -= bytes
    add(this.#held, userId, bytes)
    return this.#permit(() => {
      this.#free += bytes
      add(this.#held, userId, -bytes)
    })
  }

  /**
   * Grants more only to a user who holds at most half as much of the reserve as stays free (dynamic thresholds, as in
   * shared-buffer switches), so greedy users leave some for the next one.
   */
  #grantReserved({ userId, bytes }: Acquire): Permit | undefined {
    const { reserve } = this.#options
    const held = this.#reserved.get(userId) ?? 0
    const free = reserve.bytes - this.#takenOfReserve - bytes
    if (bytes > reserve.largest || held > free / 2) return undefined
    this.#addReserved(userId, bytes)
    return this.#permit(() => this.#addReserved(userId, -bytes))
  }

  #addReserved(userId: string, bytes: number): void {
    this.#takenOfReserve += bytes
    add(this.#reserved, userId, bytes)
  }

  #permit(giveBack: () => void): Permit {
    let isReleased = false
    return {
      release: () => {
        if (isReleased) return
        isReleased = true
        giveBack()
        this.#serve()
      },
    }
  }

  #serve(): void {
    for (let first = this.first; first && first.bytes <= this.#free; first = this.first) {
      this.#leave(first)
      this.#endTurn(first.userId)
      first.granted.resolve(this.#grantFree(first))
    }
    for (const waiting of this.#all) {
      const permit = this.#grantReserved(waiting)
      if (permit === undefined) continue
      this.#leave(waiting)
      waiting.granted.resolve(permit)
    }
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    if (!this.#of(waiting.userId).includes(waiting)) return
    this.#leave(waiting)
    // Otherwise a user with many failing requests would stay first.
    this.#endTurn(waiting.userId)
    waiting.granted.reject(reason)
    this.#serve()
  }

  #leave(waiting: Waiting): void {
    const others = this.#of(waiting.userId).filter((other) => other !== waiting)
    if (others.length > 0) this.#queue.set(waiting.userId, others)
    else this.#queue.delete(waiting.userId)
  }

  #endTurn(userId: string): void {
    const own = this.#queue.get(userId)
    if (own === undefined) return
    this.#queue.delete(userId)
    this.#queue.set(userId, own)
  }
}

function add(held: Map<string, number>, userId: string, bytes: number): void {
  const sum = (held.get(userId) ?? 0) + bytes
  if (sum > 0) held.set(userId, sum)
  else held.delete(userId)
}

export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
