import { addTo } from '../sums.ts'
import { type Reached, reachedBound } from './shares.ts'

/** Who holds a part of a limit in the memory of this instance. */
export interface Holder {
  /** The account, or what is counted instead of one, such as an address. */
  readonly owner: string
  /** See `Actor`. */
  readonly credential?: string | undefined
}

/** Counts, in the memory of this instance, what each account and each of its narrow credentials holds of a limit. */
export class HeldCounts {
  readonly #limit: number
  readonly #all = new Map<string, number>()
  readonly #own = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The bound that `more` would exceed; `undefined` if there is room. */
  reached(holder: Holder, more = 1): Reached | undefined {
    const key = ownKey(holder)
    const own = key === undefined ? undefined : (this.#own.get(key) ?? 0)
    return reachedBound(this.#limit, { all: this.of(holder.owner), own }, more)
  }

  of(owner: string): number {
    return this.#all.get(owner) ?? 0
  }

  add(holder: Holder, amount: number): void {
    addTo(this.#all, holder.owner, amount)
    const key = ownKey(holder)
    if (key !== undefined) addTo(this.#own, key, amount)
  }
}

function ownKey({ owner, credential }: Holder): string | undefined {
  return credential === undefined ? undefined : `${credential} ${owner}`
}
