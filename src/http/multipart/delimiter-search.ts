/**
 * Finds a delimiter in bytes that come in chunks, wherever they are cut. It looks at whole chunks with the
 * runtime's own search and keeps no more of them than could be the delimiter's beginning.
 */
export class DelimiterSearch {
  readonly #delimiter: Buffer
  /** The last bytes searched, then room for as many of the next chunk. */
  readonly #seam: Buffer
  /** How many bytes are kept in the seam; always fewer than the delimiter has. */
  #kept = 0

  constructor(delimiter: Buffer) {
    this.#delimiter = delimiter
    this.#seam = Buffer.alloc(2 * (delimiter.length - 1))
  }

  /** Forgets what was searched, and goes on as if it had been `before`, which is shorter than the delimiter. */
  restart(before: string): void {
    this.#kept = this.#seam.write(before, 'latin1')
  }

  /**
   * Returns how many bytes of `chunk` there are up to the end of the first delimiter, which may have begun in
   * earlier chunks; or `undefined` when none ends in it. After a find the search has to be restarted.
   */
  next(chunk: Buffer): number | undefined {
    const { length } = this.#delimiter
    const kept = this.#kept
    const fresh = chunk.copy(this.#seam, kept, 0, length - 1)
    const onSeam = this.#seam.subarray(0, kept + fresh).indexOf(this.#delimiter)
    if (onSeam !== -1 && onSeam < kept) return onSeam + length - kept
    const inChunk = chunk.indexOf(this.#delimiter)
    if (inChunk !== -1) return inChunk + length
    this.#keepEnd(chunk, kept + fresh)
    return undefined
  }

  #keepEnd(chunk: Buffer, inSeam: number): void {
    const max = this.#delimiter.length - 1
    if (chunk.length >= max) {
      this.#kept = chunk.copy(this.#seam, 0, chunk.length - max)
    } else {
      const from = Math.max(0, inSeam - max)
      this.#seam.copyWithin(0, from, inSeam)
      this.#kept = inSeam - from
    }
  }
}
