/** Over this time in which its client had the turn an upload's pace is taken. */
const WINDOW_MS = 5_000

/** How fast a client sends: bytes for the time in which it had the turn, and neither the store nor the memory. */
export class ClientRate {
  #isClientsTurn = false
  #window = { ms: 0, bytes: 0 }
  #bytesPerSecond = Number.POSITIVE_INFINITY

  /** Of the last window; without bound before there was one. */
  get bytesPerSecond(): number {
    return this.#bytesPerSecond
  }

  /** Passes `content` on, and counts it. */
  async *measure(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      this.#isClientsTurn = true
      for await (const piece of content) {
        this.#isClientsTurn = false
        this.#window.bytes += piece.byteLength
        yield piece
        this.#isClientsTurn = true
      }
    } finally {
      this.#isClientsTurn = false
    }
  }

  /** Waits for something that the client sends. */
  async wait<T>(sent: Promise<T>): Promise<T> {
    try {
      this.#isClientsTurn = true
      return await sent
    } finally {
      this.#isClientsTurn = false
    }
  }

  /** So much time has passed. */
  tick(ms: number): void {
    if (!this.#isClientsTurn) return
    this.#window.ms += ms
    if (this.#window.ms < WINDOW_MS) return
    this.#bytesPerSecond = (this.#window.bytes * 1000) / this.#window.ms
    this.#window = { ms: 0, bytes: 0 }
  }
}
