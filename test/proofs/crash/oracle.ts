/** What a read can find: the SHA-256 of a content, or nothing. */
export type Content = string

export const ABSENT: Content = 'absent'

/** One write as one file sees it. Times are the client's, in milliseconds. */
interface Write {
  readonly file: string
  /** What it leaves, or, where a renamed file could have been one of several, what it may leave. */
  contents: ReadonlySet<Content>
  readonly startedAt: number
  /** From then on it has no effect that it did not have before; `Infinity` while it runs. */
  endedAt: number
  isAcknowledged: boolean
}

/** A write whose outcome is not known yet. */
export interface OpenWrite {
  /** It took effect, once, between its beginning and now; `contents` is what a rename turned out to have moved. */
  acknowledge(contents?: Content): void
  /** It has no effect. */
  refuse(): void
  /** Nobody knows; if it has an effect, then a whole one, within `graceMs` from now. */
  lose(graceMs: number): void
}

export interface Read {
  readonly file: string
  readonly content: Content
  /** When the request was sent. */
  readonly startedAt: number
}

/**
 * Knows what each file may hold: the last acknowledged write, any that ran beside it, and any after it, or before and
 * not over by then, whose outcome nobody knows. What an acknowledged write has replaced may not come back.
 */
export class Oracle {
  readonly #writes = new Map<string, Write[]>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  begin(file: string, contents: Iterable<Content>): OpenWrite {
    const write: Write = {
      file,
      contents: new Set(contents),
      startedAt: this.#now(),
      endedAt: Number.POSITIVE_INFINITY,
      isAcknowledged: false,
    }
    this.#of(file).push(write)
    return {
      acknowledge: (content) => {
        if (content !== undefined) write.contents = new Set([content])
        write.endedAt = this.#now()
        write.isAcknowledged = true
        this.#forget(file)
      },
      refuse: () =>
        void this.#writes.set(
          file,
          this.#of(file).filter((other) => other !== write),
        ),
      lose: (graceMs) => {
        write.endedAt = this.#now() + graceMs
      },
    }
  }

  /** All that a read which began then can find by now. */
  allowed(file: string, startedAt: number): ReadonlySet<Content> {
    const writes = this.#of(file)
    const isReplaced = (write: Write): boolean =>
      writes.some(
        (later) =>
          later.isAcknowledged && later.startedAt > write.endedAt && later.endedAt < startedAt,
      )
    const standing = writes.filter((write) => !isReplaced(write))
    return new Set(standing.flatMap(({ contents }) => Array.from(contents)))
  }

  /** What is wrong with what a read has found, if anything is. */
  judge({ file, content, startedAt }: Read): string | undefined {
    const allowed = this.allowed(file, startedAt)
    if (allowed.has(content)) return undefined
    const words = [...allowed].map((content) => content.slice(0, 12)).join(' or ')
    return `${file} holds ${content.slice(0, 12)} in place of ${words}`
  }

  /** Whether no write to the file runs, nor may still have its effect. */
  isQuiet(file: string): boolean {
    return this.#of(file).every((write) => write.endedAt <= this.#now())
  }

  files(): readonly string[] {
    return [...this.#writes.keys()]
  }

  #of(file: string): Write[] {
    const known = this.#writes.get(file)
    if (known !== undefined) return known
    const writes: Write[] = [
      {
        file,
        contents: new Set([ABSENT]),
        startedAt: Number.NEGATIVE_INFINITY,
        endedAt: Number.NEGATIVE_INFINITY,
        isAcknowledged: true,
      },
    ]
    this.#writes.set(file, writes)
    return writes
  }

  /** Drops what no read can find that has begun within the last minutes. */
  #forget(file: string): void {
    const writes = this.#of(file)
    if (writes.length < MANY) return
    const longAgo = this.#now() - LONGEST_READ_MS
    const standing = writes.filter(
      (write) =>
        !writes.some(
          (later) =>
            later.isAcknowledged && later.startedAt > write.endedAt && later.endedAt < longAgo,
        ),
    )
    this.#writes.set(file, standing)
  }
}

const MANY = 50
const LONGEST_READ_MS = 120_000
