import { Deadline } from './deadline.ts'
import { onAbort } from './on-abort.ts'
import { addTo } from '../sums.ts'

export interface FairSemaphoreOptions {
  /** In all, in any unit; may be infinite. */
  readonly permits: number
  /** Most that one owner holds; no limit by default. */
  readonly perOwner?: number
  /** In addition, for owners who hold little of it. Their requests of up to `largest` permits do not queue. */
  readonly reserve?: { readonly permits: number; readonly largest: number }
}

export interface Acquire {
  readonly owner: string
  /** 1 by default. */
  readonly permits?: number
}

export interface Wait {
  readonly signal?: AbortSignal | undefined
  /** Ends the wait with this error. */
  readonly late?: { readonly ms: number; readonly error: () => Error } | undefined
}

export interface Permit {
  /** Idempotent. */
  release(): void
}

interface Waiting extends Required<Acquire> {
  readonly grant: (permit: Permit) => void
  readonly refuse: (reason: unknown) => void
  waitedMs: number
  firstMs: number
}

const ALL = Symbol('all')
const NO_RESERVE = { permits: 0, largest: 0 }

/**
 * A weighted semaphore that is fair to owners, however many requests each of them has: the owner who holds least is
 * served first, and owners who hold the same take turns. The requests of an owner are served in call order. No request
 * overtakes the first one, except those that the reserve serves.
 */
export class FairSemaphore {
  readonly #options: Required<FairSemaphoreOptions>
  #free: number
  /** Permits by owner; those of the reserve apart. */
  readonly #held = new Map<string, number>()
  readonly #reserved = new Map<string, number>()
  #takenOfReserve = 0
  readonly #serving = new Set<string | typeof ALL>()
  /** The requests of each owner, in the order of the owners' turns. Thousands can wait, and leave at the same time. */
  readonly #queue = new Map<string, Set<Waiting>>()

  constructor(options: FairSemaphoreOptions) {
    this.#options = { perOwner: Infinity, reserve: NO_RESERVE, ...options }
    this.#free = options.permits
  }

  get taken(): number {
    return this.#options.permits - this.#free + this.#takenOfReserve
  }

  get waiting(): number {
    let sum = 0
    for (const { size } of this.#queue.values()) sum += size
    return sum
  }

  waitingOf(owner: string): number {
    return this.#queue.get(owner)?.size ?? 0
  }

  /** The next request served; `undefined` if none waits for others. */
  get first(): Readonly<Waiting> | undefined {
    return this.#firstOf(this.#queue)
  }

  #firstOf(queue: Iterable<[string, Set<Waiting>]>): Waiting | undefined {
    let first: Waiting | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [owner, [own]] of queue) {
      const held = this.#held.get(owner) ?? 0
      const isWithin = own !== undefined && held + own.permits <= this.#options.perOwner
      if (isWithin && held < least) [first, least] = [own, held]
    }
    return first
  }

  /** With infinite permits, owners wait for their own only: no need to look at thousands of others. */
  #next(owner: string): Waiting | undefined {
    if (this.#free < Infinity) return this.#firstOf(this.#queue)
    const own = this.#queue.get(owner)
    return own && this.#firstOf([[owner, own]])
  }

  /** Permits that must be released before every waiting request is granted. */
  get lacking(): number {
    let sum = -this.#free
    for (const { permits } of this.#all()) sum += permits
    return sum
  }

  /** Runs `work` with permits; settles as it does, or rejects as `acquire` does. */
  async run<T>(request: Acquire & Wait, work: () => Promise<T>): Promise<T> {
    const permit = this.tryAcquire(request) ?? (await this.acquire(request))
    try {
      return await work()
    } finally {
      permit.release()
    }
  }

  /** Rejects with the signal's reason, or with that of a late grant. */
  async acquire(request: Acquire & Wait): Promise<Permit> {
    const { signal, late } = request
    signal?.throwIfAborted()
    const permit = this.tryAcquire(request)
    if (permit !== undefined) return permit
    const { promise, resolve, reject } = Promise.withResolvers<Permit>()
    const waiting = this.#enqueue(request, resolve, reject)
    using _ = signal && onAbort(signal, () => this.#refuse(waiting, signal.reason))
    const deadline = late && new Deadline(late.ms, () => this.#refuse(waiting, late.error()))
    return await promise.finally(() => deadline?.clear())
  }

  /** `acquire` for a caller that should not wait for a promise: `release` calls the next `grant`. */
  acquireWith(request: Acquire, grant: Waiting['grant'], refuse: Waiting['refuse']): void {
    const permit = this.tryAcquire(request)
    if (permit === undefined) this.#enqueue(request, grant, refuse)
    else grant(permit)
  }

  tryAcquire({ owner, permits = 1 }: Acquire): Permit | undefined {
    const isWithin = (this.#held.get(owner) ?? 0) + permits <= this.#options.perOwner
    const isFree = isWithin && permits <= this.#free && this.#next(owner) === undefined
    return isFree ? this.#grantFree(owner, permits) : this.#grantReserved(owner, permits)
  }

  /** Counts the time for `waitedMs` and `firstMs`. */
  tick(ms: number): void {
    const { first } = this
    for (const waiting of this.#all()) {
      waiting.waitedMs += ms
      if (waiting === first) waiting.firstMs += ms
    }
  }

  #enqueue(
    { owner, permits = 1 }: Acquire,
    grant: Waiting['grant'],
    refuse: Waiting['refuse'],
  ): Waiting {
    const waiting = { owner, permits, grant, refuse, waitedMs: 0, firstMs: 0 }
    const own = this.#queue.get(owner) ?? new Set()
    this.#queue.set(owner, own.add(waiting))
    return waiting
  }

  *#all(): Generator<Waiting, void> {
    for (const own of this.#queue.values()) yield* own
  }

  #grantFree(owner: string, permits: number): Permit {
    this.#free -= permits
    addTo(this.#held, owner, permits)
    return permit(() => {
      this.#free += permits
      addTo(this.#held, owner, -permits)
      this.#serve(owner)
    })
  }

  /**
   * Grants more only to an owner who holds at most half as much of the reserve as stays free (dynamic thresholds, as in
   * shared-buffer switches), so greedy owners leave some for the next one.
   */
  #grantReserved(owner: string, permits: number): Permit | undefined {
    const { reserve } = this.#options
    const held = this.#reserved.get(owner) ?? 0
    const free = reserve.permits - this.#takenOfReserve - permits
    if (permits > reserve.largest || held > free / 2) return undefined
    this.#addReserved(owner, permits)
    return permit(() => {
      this.#addReserved(owner, -permits)
      this.#serveReserve()
    })
  }

  #addReserved(owner: string, permits: number): void {
    this.#takenOfReserve += permits
    addTo(this.#reserved, owner, permits)
  }

  #serve(owner: string): void {
    const served = this.#free < Infinity ? ALL : owner
    // A granted request can release at once; thousands that do would be as many calls deep.
    if (this.#serving.has(served)) return
    this.#serving.add(served)
    try {
      this.#serveAll(owner)
    } finally {
      this.#serving.delete(served)
    }
  }

  #serveAll(owner: string): void {
    for (let next = this.#next(owner); next; next = this.#next(owner)) {
      if (next.permits > this.#free) return
      this.#leave(next)
      this.#endTurn(next.owner)
      next.grant(this.#grantFree(next.owner, next.permits))
    }
  }

  #serveReserve(): void {
    for (const waiting of this.#all()) {
      const granted = this.#grantReserved(waiting.owner, waiting.permits)
      if (granted === undefined) continue
      this.#leave(waiting)
      waiting.grant(granted)
    }
  }

  #refuse(waiting: Waiting, reason: unknown): void {
    const own = this.#queue.get(waiting.owner)
    if (own?.has(waiting) !== true) return
    const [next] = own
    this.#leave(waiting)
    // Otherwise an owner with many failing requests would stay first.
    this.#endTurn(waiting.owner)
    waiting.refuse(reason)
    // A smaller one may follow.
    if (waiting === next) this.#serve(waiting.owner)
  }

  #leave(waiting: Waiting): void {
    const own = this.#queue.get(waiting.owner)
    own?.delete(waiting)
    if (own?.size === 0) this.#queue.delete(waiting.owner)
  }

  #endTurn(owner: string): void {
    const own = this.#queue.get(owner)
    if (own === undefined) return
    this.#queue.delete(owner)
    this.#queue.set(owner, own)
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
