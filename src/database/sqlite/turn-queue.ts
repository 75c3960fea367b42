import { NOBODY, type TimeShares } from '../../core/async/time-shares.ts'

/** What waits for the writer, by user. */
export class TurnQueue<T> {
  readonly #shares: Pick<TimeShares, 'usedBy' | 'costOf' | 'pauseOf'>
  readonly #waiting = new Map<string, T[]>()
  #size = 0

  constructor(shares: Pick<TimeShares, 'usedBy' | 'costOf' | 'pauseOf'>) {
    this.#shares = shares
  }

  get size(): number {
    return this.#size
  }

  add(by: string, item: T): void {
    const items = this.#waiting.get(by)
    if (items === undefined) this.#waiting.set(by, [item])
    else items.push(item)
    this.#size += 1
  }

  /** The first of the user who has used least; `undefined` if there is none, or if it would probably take longer. */
  take(mostMs: number): { readonly by: string; readonly item: T } | undefined {
    const by = this.#next()
    const items = by === undefined ? undefined : this.#waiting.get(by)
    if (by === undefined || items === undefined) return undefined
    if (by !== NOBODY && this.#shares.costOf(by) > mostMs) return undefined
    const item = items.shift()
    if (items.length === 0) this.#waiting.delete(by)
    if (item === undefined) return undefined
    this.#size -= 1
    return { by, item }
  }

  /** Some of what waits, of any user. */
  takeAny(most: number): readonly T[] {
    const taken: T[] = []
    for (const [by, items] of this.#waiting) {
      taken.push(...items.splice(0, most - taken.length))
      if (items.length === 0) this.#waiting.delete(by)
      if (taken.length === most) break
    }
    this.#size -= taken.length
    return taken
  }

  /** Milliseconds until any user may go on. */
  pause(): number {
    let least = Infinity
    for (const by of this.#waiting.keys()) {
      least = Math.min(least, this.#shares.pauseOf(by))
      if (least === 0) return 0
    }
    return least === Infinity ? 0 : least
  }

  #next(): string | undefined {
    if (this.#waiting.size === 1) {
      const [only] = this.#waiting.keys()
      return only !== undefined && this.#shares.pauseOf(only) === 0 ? only : undefined
    }
    let [least, next]: [number, string | undefined] = [Infinity, undefined]
    for (const by of this.#waiting.keys()) {
      const used = this.#shares.usedBy(by)
      if (used < least && this.#shares.pauseOf(by) === 0) [least, next] = [used, by]
    }
    return next
  }
}
