export interface EvenShareOptions {
  /** What all have together when they began at once; what one holds already is not taken back when others join. */
  readonly totalBytes: number
  /** What each may have, however many there are and however slow it is. */
  readonly leastBytes: number
  /** What each may have, however few there are. */
  readonly mostBytes: number
}

/** One reader's share. */
export interface Share {
  /** What it may have at present. */
  readonly bytes: number
  /** It took that many milliseconds to consume what it had: a quick reader gets four times as much, a slow one a quarter. */
  adapt(ms: number): void
  /** Once. */
  leave(): void
}

/** What a reader has is to last it for about that long, in milliseconds. */
const QUICK_MS = 100

const STEP = 4

/** Memory that is shared evenly by all readers who are quick enough to make use of it. The others have the least. */
export class EvenShare {
  readonly #options: EvenShareOptions
  #members = 0

  constructor(options: EvenShareOptions) {
    this.#options = options
  }

  /** It begins with four times the least. */
  join(): Share {
    const { leastBytes, mostBytes } = this.#options
    const even = (): number => this.#evenBytes()
    let window = leastBytes * STEP
    this.#members += 1
    return {
      get bytes() {
        return Math.floor(Math.min(window, even()))
      },
      adapt(ms) {
        const wanted = ms < QUICK_MS ? window * STEP : window / STEP
        window = Math.max(leastBytes, Math.min(mostBytes, wanted))
      },
      leave: () => {
        this.#members -= 1
      },
    }
  }

  #evenBytes(): number {
    const { totalBytes, leastBytes, mostBytes } = this.#options
    const share = totalBytes / this.#members
    return Math.max(leastBytes, Math.min(mostBytes, share))
  }
}
