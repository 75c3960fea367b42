import { addAbortListener } from 'node:events'
import { AppError } from '../errors.ts'
import type { Permit } from './body-memory.ts'
import { addTo } from './sums.ts'

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
  readonly grant: (permit: Permit) => void
  readonly refuse: (reason: unknown) => void
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
  #isServing = false
  /** The requests of each user, in the order of the users' turns. Thousands can wait, and leave at the same time. */
  readonly #queue = new Map<string, Set<Waiting>>()

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    this.#free = options.bytes
  }

  get taken(): number {
    return this.#options.bytes - this.#free + this.#takenOfReserve
  }

  get waiting(): number {
    let sum = 0
    for (const { size } of this.#queue.values()) sum += size
    return sum
  }

  waitingOf(userId: string): number {
    return this.#queue.get(userId)?.size ?? 0
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
    let sum = -this.#free
    for (const { bytes } of this.#all()) sum += bytes
    return sum
  }

  /** Rejects with `unavailable` after too long a wait, and with the signal's reason. */
  async acquire(request: Acquire & { readonly signal?: AbortSignal }): Promise<Permit> {
    const { signal } = request
    signal?.throwIfAborted()
    const permit = this.tryAcquire(request)
    if (permit !== undefined) return permit
    const { promise, resolve, reject } = Promise.withResolvers<Permit>()
    const waiting = this.#enqueue(request, resolve, reject)
    using _ = signal && addAbortListener(signal, () => this.#refuse(waiting, signal.reason))
    return await promise
  }

  /** `acquire` for a caller that should not wait for a promise: `release` calls the next `grant`. */
  acquireWith(request: Acquire, grant: Waiting['grant'], refuse: Waiting['refuse']): void {
    const permit = this.tryAcquire(request)
    if (permit === undefined) this.#enqueue(request, grant, refuse)
    else grant(permit)
  }

  tryAcquire(request: Acquire): Permit | undefined {
    const isFree = this.#queue.size === 0 && request.bytes <= this.#free
    return isFree ? this.#grantFree(request) : this.#grantReserved(request)
  }

  tick(ms: number): void {
    const { first } = this
    const late: Waiting[] = []
    for (const waiting of this.#all()) {
      waiting.waitedMs += ms
      if (waiting === first) waiting.firstMs += ms
      if (waiting.waitedMs >= MAX_WAIT_MS) late.push(waiting)
    }
    for (const waiting of late) {
      this.#refuse(waiting, busy('No memory is available for this upload.'))
    }
  }

  #enqueue(
    { userId, bytes }: Acquire,
    grant: Waiting['grant'],
    refuse: Waiting['refuse'],
  ): Waiting {
    const waiting = { userId, bytes, grant, refuse, waitedMs: 0, firstMs: 0 }
    const own = this.#queue.get(userId) ?? new Set()
    this.#queue.set(userId, own.add(waiting))
    return waiting
  }

  *#all(): Generator<Waiting, void> {
    for (const own of this.#queue.values()) yield* own
  }

  #grantFree({ userId, bytes }: Acquire): Permit {
    this.#free -= bytes
    addTo(this.#held, userId, bytes)
    return permit(() => {
      this.#free += bytes
      addTo(this.#held, userId, -bytes)
      this.#serve()
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
    return permit(() => {
      this.#addReserved(userId, -bytes)
      this.#serveReserve()
    })
  }

  #addReserved(userId: string, bytes: number): void {
    this.#takenOfReserve += bytes
    addTo(this.#reserved, userId, bytes)
  }

  #serve(): void {
    // A granted request can release at once; thousands that do would be as many calls deep.
    if (this.#isServing) return
    this.#isServing = true
    try {
      this.#serveAll()
    } finally {
      this.#isServing = false
    }
  }

  #serveAll(): void {
    for (let first = this.first; first && first.bytes <= this.#free; first = this.first) {
      this.#leave(first)
      this.#endTurn(first.userId)
      first.grant(this.#grantFree(first))
    }
  }

  #serveReserve(): void {
    for (const waiting of this.#all()) {
      const granted = this.#grantReserved(waiting)
      if (granted === undefined) continue
      this.#leave(waiting)
      waiting.grant(granted)
    }
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    const own = this.#queue.get(waiting.userId)
    if (own?.has(waiting) !== true) return
    const [next] = own
    this.#leave(waiting)
    // Otherwise a user with many failing requests would stay first.
    this.#endTurn(waiting.userId)
    waiting.refuse(reason)
    // A smaller one may follow.
    if (waiting === next) this.#serve()
  }

  #leave(waiting: Waiting): void {
    const own = this.#queue.get(waiting.userId)
    own?.delete(waiting)
    if (own?.size === 0) this.#queue.delete(waiting.userId)
  }

  #endTurn(userId: string): void {
    const own = this.#queue.get(userId)
    if (own === undefined) return
    this.#queue.delete(userId)
    this.#queue.set(userId, own)
  }
}

function permit(giveBack: () => void): Permit {
  let isReleased = false
  return {
    release: () => {
      if (isReleased) return
      isReleased = true
      giveBack()
    },
  }
}

export function busy(detail: string): AppError {
  return new AppError('unavailable', `The service is busy. ${detail}`)
}
