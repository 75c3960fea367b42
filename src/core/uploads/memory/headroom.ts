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
  readonly #bytes: number
  readonly #largest: number
  #free: number
  /** Of each user that has any. */
  readonly #held = new Map<string, number>()

  constructor({ bytes, largest }: HeadroomOptions) {
    this.#bytes = bytes
    this.#largest = largest
    this.#free = bytes
  }

  get taken(): number {
    return this.#bytes - this.#free
  }

  /** Takes `bytes` for the user, or says that they are not there for this one. */
  take(userId: string, bytes: number): boolean {
    const held = this.#held.get(userId) ?? 0
    const free = this.#free - bytes
    if (bytes > this.#largest || free < 0 || held > free / 2) return false
    this.#free = free
    this.#held.set(userId, held + bytes)
    return true
  }

  /** Takes back `bytes` of what the user has of it. */
  give(userId: string, bytes: number): void {
    if (bytes === 0) return
    const left = (this.#held.get(userId) ?? 0) - bytes
    this.#free += bytes
    if (left > 0) this.#held.set(userId, left)
    else this.#held.delete(userId)
  }
}
