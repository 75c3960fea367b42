import { settledUnlessAborted } from '../../async/deadline.ts'
import { detachBuffer } from '../../objects/object-store.ts'
import type { BodyMemory, FirstPart, HoldOptions } from '../../objects/body-memory.ts'
import { busy, type MemoryPool } from './fair-queue.ts'

/** Need no pool memory: a part's first byte shows the store that the previous one is whole, so it never waits. */
export const FIRST_BYTES = 32 * 1024

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
    options: HoldOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    const { partSize = this.#options.partSize, expectedSize = Infinity, signal } = options
    const nextPart = { contentBytes: partSize, heldBefore: 0, signal }
    let part = { ...nextPart, ...options.firstPart }
    let left = expectedSize
    try {
      if (part.heldBefore > 0 && part.contentBytes === 0) {
        await this.#gather(0, { part, left })
        part = nextPart
      }
      this.#awaitsClient = true
      for await (const piece of content) {
        this.#awaitsClient = false
        this.#window.bytes += piece.byteLength
        let rest = piece
        do {
          const held = rest.subarray(0, bytesUntilBound(this.#gathering.bytes, part.contentBytes))
          const isComplete = await this.#gather(held.byteLength, { part, left })
          if (isComplete) part = nextPart
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

  tryHold(bytes: number): boolean {
    const sending = this.#sending
    const lacking = Math.max(0, sending.bytes + bytes - FIRST_BYTES - sending.room)
    const { userId, pool } = this.#options
    if (this.#over.signal.aborted || (lacking > 0 && !pool.take(userId, lacking))) return false
    sending.bytes += bytes
    sending.room += lacking
    return true
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

  /**
   * Takes memory for these bytes only; if none is free, requests all that the part still needs (see `MemoryPool`),
   * including the bytes that the store adds to it. Resolves to whether the part is complete.
   */
  async #gather(
    bytes: number,
    { part, left }: { readonly part: GatheredPart; readonly left: number },
  ): Promise<boolean> {
    const { userId, pool } = this.#options
    const { contentBytes, heldBefore } = part
    const gathering = this.#gathering
    const gathered = gathering.bytes + bytes
    const isWhole = gathered >= contentBytes
    const needed = isWhole ? gathered + heldBefore : gathered - FIRST_BYTES
    const lacking = Math.max(0, needed) - gathering.room
    if (lacking > 0) {
      this.#over.signal.throwIfAborted()
      if (pool.take(userId, lacking)) gathering.room += lacking
      else {
        const end = left > 0 ? Math.min(contentBytes, gathering.bytes + left) : contentBytes
        const whole = end < contentBytes ? end : contentBytes + heldBefore
        const missing = Math.max(lacking, whole - gathering.room)
        const grant = (): void => void (gathering.room += missing)
        await pool.acquire({ userId, bytes: missing, grant, signal: this.#endOfWait(part) })
      }
    }
    gathering.bytes = isWhole ? gathered + heldBefore : gathered
    if (isWhole) this.#send()
    return isWhole
  }

  #endOfWait({ signal }: Pick<HoldOptions, 'signal'>): AbortSignal {
    return signal === undefined ? this.#over.signal : AbortSignal.any([this.#over.signal, signal])
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

interface GatheredPart extends FirstPart, Pick<HoldOptions, 'signal'> {}

/** A piece crosses neither the end of a part nor the end of its first bytes, which need no memory. */
function bytesUntilBound(gathered: number, partSize: number): number {
  if (partSize === 0) return Number.POSITIVE_INFINITY
  return (gathered < FIRST_BYTES ? Math.min(FIRST_BYTES, partSize) : partSize) - gathered
}
