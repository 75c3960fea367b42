import { settledUnlessAborted } from '../../async/deadline.ts'
import { detachBuffer, type BodyMemory, type HoldOptions } from '../../objects/object-store.ts'
import { busy, type MemoryPool } from './fair-queue.ts'

/** Needs no pool memory: a part's first byte shows the store that the previous one is whole, so it never waits. */
const FIRST_BYTES = 32 * 1024

/** The rate is measured over this much time spent waiting for the client. */
const WINDOW_MS = 5_000

/** Shared, because creating an error captures a stack, which only a defect would show. */
const OVER = busy('The upload has ended.')

export interface AllocationOptions {
  readonly userId: string
  readonly pool: MemoryPool
  readonly partSize: number
  readonly onEnd: (allocation: MemoryAllocation) => void
}

/** One upload's share of the memory. Its owner disposes of it, which returns everything. */
export class MemoryAllocation implements BodyMemory, Disposable {
  readonly userId: string
  /** Rate of the client in the last window; infinite before the first window ends. */
  bytesPerSecond = Number.POSITIVE_INFINITY
  /** Safe: the pieces are Node's own copies of received bytes. */
  readonly detach = detachBuffer
  leavingMs = 0
  readonly #options: AllocationOptions
  readonly #taken = new AbortController()
  /** Aborts with `unavailable` on eviction. */
  readonly taken = this.#taken.signal
  readonly #over = new AbortController()
  /** Bytes of the part being gathered, and pool bytes (`room`) held for them. */
  #gathering = { bytes: 0, room: 0 }
  readonly #sending = { bytes: 0, room: 0 }
  #awaitsClient = false
  #window = { ms: 0, bytes: 0 }

  constructor(options: AllocationOptions) {
    this.#options = options
    this.userId = options.userId
  }

  get room(): number {
    return this.#gathering.room + this.#sending.room
  }

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
          // The consumer may detach the piece.
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

  /** Waits for further data from the client. Rejects with `unavailable` on eviction. */
  async awaitClient<T>(sent: Promise<T>): Promise<T> {
    this.#awaitsClient = true
    try {
      return await settledUnlessAborted(sent, this.taken)
    } finally {
      this.#awaitsClient = false
    }
  }

  release(bytes: number): void {
    this.#sending.bytes -= bytes
    this.#trim()
  }

  tick(ms: number): void {
    if (this.taken.aborted) this.leavingMs += ms
    if (!this.#awaitsClient) return
    this.#window.ms += ms
    if (this.#window.ms < WINDOW_MS) return
    this.bytesPerSecond = (this.#window.bytes * 1000) / this.#window.ms
    this.#window = { ms: 0, bytes: 0 }
  }

  evict(): void {
    const reason = busy('The upload was too slow while others waited for memory.')
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

  /** Takes memory for these bytes only; if none is free, requests all that the part still needs (see `MemoryPool`). */
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

/** A piece crosses neither the end of a part nor the end of its first bytes, which need no memory. */
function bytesUntilBound(gathered: number, partSize: number): number {
  if (partSize === 0) return Number.POSITIVE_INFINITY
  return (gathered < FIRST_BYTES ? Math.min(FIRST_BYTES, partSize) : partSize) - gathered
}
