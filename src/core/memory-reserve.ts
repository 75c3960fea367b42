export interface MemoryReserveOptions {
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
export class MemoryReserve {
  readonly #bytes: number
  readonly #largest: number
  #free: number
  /** Of each user that has any. */
  readonly #held = new Map<string, number>()

  constructor({ bytes, largest }: MemoryReserveOptions) {
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

  /** Takes back what the user has of it, at most `bytes`; returns how many of these are not its own. */
  give(userId: string, bytes: number): number {
    const held = this.#held.get(userId) ?? 0
    const back = Math.min(held, bytes)
    this.#free += back
    if (back < held) this.#held.set(userId, held - back)
    else this.#held.delete(userId)
    return bytes - back
  }
}
