const CR = 0x0d

/**
 * Hands on the content of a part as soon as it cannot be the beginning of the delimiter that ends it, which is nearly all
 * of it at once and without a copy. Of what is withheld nothing is kept: it is the delimiter's own beginning. That has its
 * only CR at its first byte, since a boundary has none.
 */
export class PartBody {
  readonly #delimiter: Buffer
  readonly #onContent: (bytes: Buffer) => void
  /** How many of the bytes that were seen last could begin the delimiter. */
  #withheld = 0

  constructor(delimiter: Buffer, onContent: (bytes: Buffer) => void) {
    this.#delimiter = delimiter
    this.#onContent = onContent
  }

  /** No delimiter ends in `chunk`. */
  pass(chunk: Buffer): void {
    const before = this.#withheld
    this.#withheld = this.#beginningIn(chunk)
    if (this.#withheld > chunk.length) return
    this.#hand(this.#delimiter, before)
    this.#hand(chunk, chunk.length - this.#withheld)
  }

  /** The delimiter ends after the first `end` bytes of `chunk`; nothing is passed after it. */
  close(chunk: Buffer, end: number): void {
    const length = end - this.#delimiter.length
    // Else it began in what is withheld.
    if (length >= 0) {
      this.#hand(this.#delimiter, this.#withheld)
      this.#hand(chunk, length)
    }
  }

  /** How long the delimiter's beginning is at the end of what has come, `chunk` included. */
  #beginningIn(chunk: Buffer): number {
    const longest = this.#delimiter.length - 1
    const from = Math.max(0, chunk.length - longest)
    const at = chunk.lastIndexOf(CR)
    if (at >= from) return this.#continues(0, chunk.subarray(at))
    const isOver = this.#withheld === 0 || this.#withheld + chunk.length > longest
    return isOver ? 0 : this.#continues(this.#withheld, chunk)
  }

  #continues(from: number, bytes: Buffer): number {
    const to = from + bytes.length
    return this.#delimiter.subarray(from, to).equals(bytes) ? to : 0
  }

  #hand(bytes: Buffer, length: number): void {
    if (length > 0) this.#onContent(bytes.subarray(0, length))
  }
}
