export interface EvenShareOptions {
  /** What all may have together, in bytes, unless they are so many that each has no more than the least. */
  readonly total: number
  /** What each may have whatever the others do, and what none may exceed; in bytes. */
  readonly least: number
  readonly most: number
}

/** Memory that is shared evenly by all who are there. */
export class EvenShare {
  readonly #options: EvenShareOptions
  #members = 0

  constructor(options: EvenShareOptions) {
    this.#options = options
  }

  /** What each may have at present, in whole bytes. */
  get bytes(): number {
    const { total, least, most } = this.#options
    return Math.max(least, Math.min(most, Math.floor(total / Math.max(1, this.#members))))
  }

  /** Adds one, until what is returned is called; to call it twice does no harm. */
  join(): () => void {
    let isThere = true
    this.#members += 1
    return () => {
      if (isThere) this.#members -= 1
      isThere = false
    }
  }
}
