/** A chunk of at least this size is handed on as it is. */
const LARGE_BYTES = 4 * 1024

/** Size of the buffers that smaller ones are copied into. */
const GATHERED_BYTES = 16 * 1024

/** How long a small chunk may wait for others, in milliseconds. */
const WAIT_MS = 20

/**
 * Hands chunks on in their order, with small ones joined: at most one chunk below 4 KiB every 20 ms, whatever the sender
 * sends. So the cost of a body in memory and work depends on its bytes: a chunk of one byte is a `Buffer` that takes 600.
 */
export class GatheredChunks {
  readonly #deliver: (chunk: Buffer) => void
  #buffer: Buffer | undefined
  #filled = 0
  #timer: NodeJS.Timeout | undefined
  #deliveredAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(deliver: (chunk: Buffer) => void) {
    this.#deliver = deliver
  }

  add(chunk: Buffer): void {
    if (chunk.length >= LARGE_BYTES) {
      this.flush()
      // What waited may have made the body fail.
      if (!this.#isClosed) this.#deliver(chunk)
    } else if (this.#filled === 0 && performance.now() - this.#deliveredAt >= WAIT_MS) {
      this.#deliveredAt = performance.now()
      this.#deliver(chunk)
    } else {
      this.#gather(chunk)
    }
  }

  /** Hands on what waits. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const buffer = this.#buffer
    if (buffer === undefined || this.#filled === 0) return
    const gathered = buffer.subarray(0, this.#filled)
    this.#filled = 0
    this.#deliveredAt = performance.now()
    // A full buffer is handed over; a few bytes must not hold the memory of many.
    if (gathered.length === GATHERED_BYTES) this.#buffer = undefined
    this.#deliver(gathered.length === GATHERED_BYTES ? gathered : Buffer.from(gathered))
  }

  /** Forgets what waits, and hands on nothing more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#buffer = undefined
    this.#filled = 0
  }

  #gather(chunk: Buffer): void {
    if (this.#filled + chunk.length > GATHERED_BYTES) this.flush()
    if (this.#isClosed) return
    this.#buffer ??= Buffer.allocUnsafeSlow(GATHERED_BYTES)
    this.#buffer.set(chunk, this.#filled)
    this.#filled += chunk.length
    if (this.#filled === GATHERED_BYTES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), WAIT_MS)
  }
}
