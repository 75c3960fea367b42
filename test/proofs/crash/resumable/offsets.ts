/** What ends an upload without its client. */
export type Ending = 'finished' | 'cancelled' | 'expired' | 'lost' | 'unknown'

export interface OffsetsOptions {
  readonly length: number
  /** Time that has passed for resumable uploads at least, in milliseconds. */
  readonly passedMs: () => number
  /** Time that has passed for them at most. */
  readonly begunMs: () => number
  /** Whether another client can replace the file. */
  readonly isContended: boolean
  /** Whether a store may have lost the parts of which it was making the object; see `README.md`. */
  readonly isCompletionCut: () => boolean
}

/** What was known when a request was sent. */
export interface Asked {
  /** The last offset that had been reported. */
  readonly floor: number
}

/**
 * Knows which offsets the service may report for one upload: none below one that it has reported (I11), and none beyond
 * what was sent.
 */
export class Offsets {
  readonly #options: OffsetsOptions
  #reported = 0
  #reportedAt: number
  #sent = 0
  /** When the last bytes were sent: their record, from which the life counts, can be that old. */
  #sentAt: number
  #isCancelled = false

  constructor(options: OffsetsOptions) {
    this.#options = options
    this.#reportedAt = options.passedMs()
    this.#sentAt = this.#reportedAt
  }

  get reported(): number {
    return this.#reported
  }

  /** Whether all bytes were sent, so that the file may be there. */
  get isAllSent(): boolean {
    return this.#sent === this.#options.length
  }

  sending(end: number): void {
    this.#sent = Math.max(this.#sent, end)
    this.#sentAt = this.#options.passedMs()
  }

  cancelling(): void {
    this.#isCancelled = true
  }

  /** Call it before a request whose response may report an offset. */
  ask(): Asked {
    return { floor: this.#reported }
  }

  /** What is wrong with the offset in a response, if anything is. */
  judge(offset: number, { floor }: Asked): string | undefined {
    if (offset > this.#reported) {
      this.#reported = offset
      this.#reportedAt = this.#sentAt
    }
    if (!Number.isInteger(offset)) return `an offset is no number: ${offset}`
    if (offset < floor) return `the offset shrank from ${floor} to ${offset}`
    if (offset > this.#sent)
      return `the offset is ${offset}, and only ${this.#sent} bytes were sent`
    return undefined
  }

  /** What is wrong with the end of an upload, if anything is; `unknown` is a 404. */
  judgeEnd(ending: Ending): string | undefined {
    if (this.#mayEnd(ending)) return undefined
    return `${this.#reported} acknowledged bytes of ${this.#options.length} ended as ${ending}`
  }

  #mayEnd(ending: Ending): boolean {
    switch (ending) {
      case 'finished':
        return this.isAllSent
      case 'cancelled':
        return this.#isCancelled
      case 'expired':
        return this.mayExpire
      case 'lost':
        return this.#reported === 0 || this.isCompletionCut
      case 'unknown': {
        const isReplaced = this.isAllSent && this.#options.isContended
        const isLost = this.#reported === 0 || this.isCompletionCut
        return isReplaced || this.#isCancelled || isLost || this.mayExpire
      }
    }
  }

  get isCompletionCut(): boolean {
    return this.isAllSent && this.#options.isCompletionCut()
  }

  /** Whether enough time has passed since the last progress. */
  get mayExpire(): boolean {
    const lifeMs = this.#reported === 0 ? EMPTY_MS : LIFETIME_MS
    return this.#options.begunMs() - this.#reportedAt > lifeMs - SLACK_MS
  }
}

const EMPTY_MS = 10 * 60_000
/** `UPLOAD_LIFETIME` of the instances. */
const LIFETIME_MS = 60 * 60_000
/** Longer than any run waits for a response. */
const SLACK_MS = 3 * 60_000
