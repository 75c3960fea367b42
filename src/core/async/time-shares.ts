import { BoundedMap } from '../bounded-map.ts'

/**
 * How much time the work of each user has taken lately, so that the users who wait share the time and not the number of
 * transactions or requests.
 */
export class TimeShares {
  readonly #clock: () => number
  readonly #users = new BoundedMap<string, Used>(MAX_USERS)
  #last: { by: string; at: number } | undefined
  #previous: { by: string; at: number } | undefined
  /** Milliseconds of a short transaction of late. */
  #short = LONG_MS

  /** `clock` is in milliseconds, and never goes back. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Notes work of so many milliseconds, which ends now. What no user has asked for is not counted. */
  charge(by: string, ms: number): void {
    this.chargeShared(by, { spent: ms, shared: 0 })
  }

  /**
   * As `charge`, with a share of work that is done for several users at once, such as a COMMIT, which `costOf` leaves
   * out.
   */
  chargeShared(by: string, { spent, shared }: { readonly spent: number; readonly shared: number }) {
    if (by === NOBODY) return
    const ms = spent + shared
    const at = this.#clock()
    this.note(by, ms)
    const { cost = spent, pausedUntil = 0 } = this.#users.get(by) ?? {}
    const isLong = ms > Math.max(LONG_MS, SHORT_ONES * this.#short) && this.#hasOthers(by, at)
    const used = this.usedBy(by) + ms
    this.#users.set(by, {
      ms: used,
      at,
      cost: cost + (spent - cost) * WEIGHT_OF_LAST,
      pausedUntil: isLong
        ? Math.min(at + MAX_PAUSE_MS, Math.max(at, pausedUntil) + ms * PAUSE)
        : pausedUntil,
    })
  }

  /** Notes that the user is active, with a transaction that shares its time with those of others. */
  note(by: string, ms: number): void {
    if (this.#last?.by !== by) this.#previous = this.#last
    this.#last = { by, at: this.#clock() }
    this.#short = Math.min(ms, this.#short * GROWTH_OF_SHORT)
  }

  /** Milliseconds of the last seconds; older ones count less. */
  usedBy(by: string): number {
    const used = this.#users.get(by)
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - this.#clock()) / HALF_LIFE_MS)
  }

  /** Milliseconds that the user's next transaction probably takes. */
  costOf(by: string): number {
    return this.#users.get(by)?.cost ?? 0
  }

  /** Milliseconds until the user's next transaction may begin. A long one is followed by a pause for others. */
  pauseOf(by: string): number {
    const at = this.#clock()
    const { pausedUntil = 0 } = this.#users.get(by) ?? {}
    return this.#hasOthers(by, at) ? Math.max(0, pausedUntil - at) : 0
  }

  /** Whether another user has had a transaction within the last second. */
  #hasOthers(by: string, now: number): boolean {
    const other = this.#last?.by === by ? this.#previous : this.#last
    return other !== undefined && now - other.at < ACTIVE_MS
  }
}

interface Used {
  readonly ms: number
  readonly at: number
  readonly cost: number
  readonly pausedUntil: number
}

export const NOBODY = ''

/** Short enough that others do not notice; twenty times what a plain upload takes on SQLite. */
export const LONG_MS = 4
/**
 * On PostgreSQL, a transaction is also long in terms of short ones, whose time is mostly the network's and the disk's.
 */
const SHORT_ONES = 4
const GROWTH_OF_SHORT = 1.02
/** In lengths of the long transaction: its user has a quarter of the time at most. */
const PAUSE = 3
/** A transaction that took long because it waited for something else is not held against its user for longer. */
const MAX_PAUSE_MS = 2_000
const WEIGHT_OF_LAST = 0.3
const HALF_LIFE_MS = 1_000
const ACTIVE_MS = 1_000
const MAX_USERS = 10_000
