const LARGE_BYTES = 4 * 1024

const GATHERED_BYTES = 16 * 1024

const WAIT_MS = 20

/** Joins small chunks: at most one below 4 KiB passes every 20 ms, since a 1-byte `Buffer` takes 600 bytes. */
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
      // The flush may have failed the body.
      if (!this.#isClosed) this.#deliver(chunk)
    } else if (this.#filled === 0 && performance.now() - this.#deliveredAt >= WAIT_MS) {
      this.#deliveredAt = performance.now()
      this.#deliver(chunk)
    } else {
      this.#gather(chunk)
    }
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const buffer = this.#buffer
    if (buffer === undefined || this.#filled === 0) return
    const gathered = buffer.subarray(0, this.#filled)
    this.#filled = 0
    this.#deliveredAt = performance.now()
    // Copied unless full, so that a few bytes don't pin the whole buffer.
    if (gathered.length === GATHERED_BYTES) this.#buffer = undefined
    this.#deliver(gathered.length === GATHERED_BYTES ? gathered : Buffer.from(gathered))
  }

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
