/** Bytes of a block: of the memory that an upload holds no more than this is not filled yet, and no more is read of a file at once. */
export const BUFFER_BYTES = 256 * 1024

/** How many blocks wait to be used again, at most: 32 MiB, the four parts of an upload that are under way. */
const MAX_KEPT = 128

/** Memory that was not used for so long goes back to the system. */
const KEPT_MS = 10_000

/**
 * Blocks of memory in which content is gathered or read, and which are used again: fresh memory takes the system longer to hand
 * out than to fill, and what the collector has to find and free is taken from all requests.
 */
export class BufferPool {
  #free: Buffer[] = []
  #expiry: NodeJS.Timeout | undefined

  /** A block. What it holds is left from before. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  /** Takes back a block that nothing reads any more; each only once. */
  giveBack(block: Buffer): void {
    if (this.#free.length === MAX_KEPT) return
    this.#free.push(block)
    this.#expiry ??= setTimeout(() => this.#expire(), KEPT_MS).unref()
    this.#expiry.refresh()
  }

  #expire(): void {
    this.#free = []
    this.#expiry = undefined
  }
}
