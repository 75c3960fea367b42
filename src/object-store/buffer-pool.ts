/** Bounds the unfilled memory of an upload and the length of one file read. */
export const BUFFER_BYTES = 256 * 1024

/** 32 MiB: the four parts that one upload sends at a time. */
const MAX_KEPT = 128

const KEPT_MS = 10_000

/** Reuses buffers: allocating a new one costs more than filling it, and garbage slows all requests. */
export class BufferPool {
  #free: Buffer[] = []
  #expiry: NodeJS.Timeout | undefined

  /** The buffer still holds its previous content. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  /** Call once per buffer, when nothing reads it any more. */
  giveBack(buffer: Buffer): void {
    if (this.#free.length === MAX_KEPT) return
    this.#free.push(buffer)
    this.#expiry ??= setTimeout(() => this.#expire(), KEPT_MS).unref()
    this.#expiry.refresh()
  }

  #expire(): void {
    this.#free = []
    this.#expiry = undefined
  }
}
