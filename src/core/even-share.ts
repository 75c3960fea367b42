export interface EvenShareOptions {
  /** What all have together when they began at once; what one holds already is not taken back when others join. */
  readonly totalBytes: number
  /** What each may have, however many there are. */
  readonly leastBytes: number
  /** What each may have, however few there are. */
  readonly mostBytes: number
}

/** Memory that is shared evenly by all who are there. */
export class EvenShare {
  readonly #options: EvenShareOptions
  #members = 0

  constructor(options: EvenShareOptions) {
    this.#options = options
  }

  /** What each may have at present. */
  get bytes(): number {
    const { totalBytes, leastBytes, mostBytes } = this.#options
    const share = Math.floor(totalBytes / Math.max(1, this.#members))
    return Math.max(leastBytes, Math.min(mostBytes, share))
  }

  join(): void {
    this.#members += 1
  }

  /** Once for each `join`. */
  leave(): void {
    this.#members -= 1
  }
}
