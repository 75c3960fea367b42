import { settledUnlessAborted } from '../../async/deadline.ts'
import { detachBuffer, type BodyMemory, type HoldOptions } from '../../objects/object-store.ts'
import { busy, type MemoryPool } from './fair-queue.ts'

/**
 * What an upload may gather of a part without memory for it. So the first byte of a part, which shows the store that the one
 * before is whole, never waits.
 */
const FIRST_BYTES = 32 * 1024

/** Over this time in which an upload waited for its client its rate is taken. */
const WINDOW_MS = 5_000

/** Made once: nobody reads it but in a defect, and each would cost a stack. */
const OVER = busy('The upload is over.')

export interface AllocationOptions {
  readonly userId: string
  readonly pool: MemoryPool
  readonly partSize: number
  readonly onEnd: (allocation: MemoryAllocation) => void
}

/** One upload's part of the memory. Whoever is given it disposes of it, which gives all back. */
export class MemoryAllocation implements BodyMemory, Disposable {
  readonly userId: string
  /** How fast the client sent in the last window; without bound before there was one. */
  bytesPerSecond = Number.POSITIVE_INFINITY
  /** The pieces are Node's own copies of what came on the connection. */
  readonly detach = detachBuffer
  /** For how long it has been on its way out. */
  leavingMs = 0
  readonly #options: AllocationOptions
  readonly #taken = new AbortController()
  /** Aborts, with `unavailable`, when the memory was taken from this upload. */
  readonly taken = this.#taken.signal
  readonly #over = new AbortController()
  /** Bytes of the part that is being gathered, and those of the pool for them. */
  #gathering = { bytes: 0, room: 0 }
  /** Bytes of whole parts, and those of the pool for them. */
  readonly #sending = { bytes: 0, room: 0 }
  /** Whether it waits for its client, and neither for the store nor for memory. */
  #awaitsClient = false
  #window = { ms: 0, bytes: 0 }

  constructor(options: AllocationOptions) {
    this.#options = options
    this.userId = options.userId
  }

  /** Bytes that it has beside what it began with. */
  get room(): number {
    return this.#gathering.room + this.#sending.room
  }

  /**
   * Passes `content` on, piece by piece, and counts what it has passed as held. A piece for which there is no memory waits;
   * when that takes too long, or others need the memory more, it fails with `unavailable`. Called once.
   */
  async *hold(
    content: AsyncIterable<Uint8Array>,
    { partSize = this.#options.partSize, expectedSize = Infinity }: HoldOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    let left = expectedSize
    try {
      this.#awaitsClient = true
      for await (const piece of content) {
        this.#awaitsClient = false
        this.#window.bytes += piece.byteLength
        let rest = piece
        do {
          const held = rest.subarray(0, bytesUntilBound(this.#gathering.bytes, partSize))
          await this.#gather(held.byteLength, { partSize, left })
          left -= held.byteLength
          // What has been handed on may be gone.
          rest = rest.subarray(held.byteLength)
          yield held
        } while (rest.byteLength > 0)
        this.#awaitsClient = true
      }
      this.#send()
    } finally {
      this.#awaitsClient = false
    }
  }

  /** Waits for something else that the client has to send; fails with `unavailable` when others need the memory more. */
  async awaitClient<T>(sent: Promise<T>): Promise<T> {
    this.#awaitsClient = true
    try {
      return await settledUnlessAborted(sent, this.taken)
    } finally {
      this.#awaitsClient = false
    }
  }

  /** `bytes` of what was passed on are gone from memory. */
  release(bytes: number): void {
    this.#sending.bytes -= bytes
    this.#trim()
  }

  /** So much time has passed. */
  tick(ms: number): void {
    if (this.taken.aborted) this.leavingMs += ms
    if (!this.#awaitsClient) return
    this.#window.ms += ms
    if (this.#window.ms < WINDOW_MS) return
    this.bytesPerSecond = (this.#window.bytes * 1000) / this.#window.ms
    this.#window = { ms: 0, bytes: 0 }
  }

  /** Takes the memory from the upload, which then fails. */
  evict(): void {
    const reason = busy('The bytes came too slowly while others waited for memory.')
    this.#over.abort(reason)
    this.#taken.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#over.abort(OVER)
    this.#options.pool.give(this.userId, this.#gathering.room + this.#sending.room)
    this.#gathering.room = 0
    this.#sending.room = 0
    this.#options.onEnd(this)
  }

  /**
   * Gathers so many bytes more, and takes memory for them alone, so that an upload which sends little gets little; when there
   * is none, it requests all that the part will need, as the pool demands.
   */
  async #gather(bytes: number, of: { partSize: number; left: number }): Promise<void> {
    const { userId, pool } = this.#options
    const gathering = this.#gathering
    const gathered = gathering.bytes + bytes
    const isWhole = gathered >= of.partSize
    const lacking = Math.max(0, isWhole ? gathered : gathered - FIRST_BYTES) - gathering.room
    if (lacking > 0) {
      const { signal } = this.#over
      signal.throwIfAborted()
      if (pool.take(userId, lacking)) gathering.room += lacking
      else {
        const whole = of.left > 0 ? Math.min(of.partSize, gathering.bytes + of.left) : of.partSize
        const missing = Math.max(lacking, whole - gathering.room)
        const grant = (): void => void (gathering.room += missing)
        await pool.acquire({ userId, bytes: missing, grant, signal })
      }
    }
    gathering.bytes = gathered
    if (isWhole) this.#send()
  }

  /** What was gathered is on its way out, and its memory will come back. */
  #send(): void {
    this.#sending.bytes += this.#gathering.bytes
    this.#sending.room += this.#gathering.room
    this.#gathering = { bytes: 0, room: 0 }
    this.#trim()
  }

  #trim(): void {
    const spare = this.#sending.room - Math.max(0, this.#sending.bytes)
    if (spare <= 0) return
    this.#sending.room -= spare
    this.#options.pool.give(this.userId, spare)
  }
}

/** How much may come in one piece: none goes beyond a part, nor beyond its first bytes, which need no memory. */
function bytesUntilBound(gathered: number, partSize: number): number {
  if (partSize === 0) return Number.POSITIVE_INFINITY
  return (gathered < FIRST_BYTES ? Math.min(FIRST_BYTES, partSize) : partSize) - gathered
}
