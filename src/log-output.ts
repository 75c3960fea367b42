import { writeSync } from 'node:fs'

export interface LogOutputOptions {
  /** Of the open file, pipe, socket or terminal. */
  readonly fd: number
  /** Told once lines can be written again how many were not, and why. */
  readonly onRecovered: (lost: LostLines) => void
}

export interface LostLines {
  readonly lost: number
  /** Of the last of them. */
  readonly err: unknown
}

/**
 * Writes each line before `write` returns, which never throws: a log that cannot be written (a full disk, a pipe without a
 * reader) costs lines and nothing else. Each further line tries again, and finishes first what was begun. A pipe whose
 * reader is slow keeps `write` waiting for up to a second; one that takes nothing in that time has failed, and is waited
 * for no more until it takes something.
 */
export class LogOutput {
  readonly #options: LogOutputOptions
  /** What is left of a line that could be written only in part. */
  #rest: Uint8Array = NOTHING
  #lost = 0
  #failure: { readonly err: unknown } | undefined

  constructor(options: LogOutputOptions) {
    this.#options = options
  }

  write(text: string): void {
    this.#rest = this.#writeOut(this.#rest)
    const line = Buffer.from(text)
    const left = this.#rest.byteLength > 0 ? line : this.#writeOut(line)
    if (left.byteLength === line.byteLength) {
      this.#lost += 1
      return
    }
    // What is left of a line that was begun comes before the next. Whether it can be finished is not known yet.
    this.#rest = left
    if (left.byteLength > 0) return
    const lines = { lost: this.#lost, err: this.#failure?.err }
    this.#lost = 0
    this.#failure = undefined
    // That is a line, too, and may be lost in its turn.
    if (lines.lost > 0) this.#options.onRecovered(lines)
    if (this.#lost > 0) this.#lost += lines.lost
  }

  /** Writes what can be written, and returns what is left. */
  #writeOut(bytes: Uint8Array): Uint8Array {
    let left = bytes
    const waitsUntil = this.#failure === undefined ? performance.now() + PATIENCE_MS : 0
    while (left.byteLength > 0) {
      try {
        left = left.subarray(writeSync(this.#options.fd, left))
      } catch (err) {
        if (!isBusy(err) || performance.now() > waitsUntil) {
          this.#failure = { err }
          return left
        }
        Atomics.wait(NEVER_WOKEN, 0, 0, RETRY_MS)
      }
    }
    return left
  }
}

const NOTHING = new Uint8Array(0)

const PATIENCE_MS = 1_000
const RETRY_MS = 5

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4))

/** Pipes are not blocking once Node has looked at them. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}
