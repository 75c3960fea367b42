export interface FairShareOptions {
  /** What all have together when they began at once; what one holds already is not taken back when others join. */
  readonly totalBytes: number
  /** What each may have, however many there are and however slow it is. */
  readonly minBytes: number
  /** What each may have, however few there are. */
  readonly maxBytes: number
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
export class FairShare {
  readonly #options: FairShareOptions
  readonly #members = { count: 0 }

  constructor(options: FairShareOptions) {
    this.#options = options
  }

  /** It begins with four times the least. */
  join(): Share {
    const { totalBytes, minBytes, maxBytes } = this.#options
    const members = this.#members
    let window = Math.min(maxBytes, minBytes * STEP)
    members.count += 1
    return {
      get bytes() {
        return Math.floor(Math.max(minBytes, Math.min(window, totalBytes / members.count)))
      },
      adapt(ms) {
        const wanted = ms < QUICK_MS ? window * STEP : window / STEP
        window = Math.max(minBytes, Math.min(maxBytes, wanted))
      },
      leave() {
        members.count -= 1
      },
    }
  }
}
