import { addAbortListener } from 'node:events'
import { busy, acquireMemory } from './acquire.ts'
import { detachBuffer } from '../../objects/object-body.ts'
import type { BodyMemory, HoldOptions } from '../../objects/object-store.ts'
import type { MemoryPool } from './fair-queue.ts'
import { ClientRate } from './client-rate.ts'

/** One upload's part of the memory. */
export interface MemoryAllocation extends BodyMemory, Disposable {
  /** Waits for something else that the client has to send; fails with `unavailable` when the room is needed more by others. */
  awaitClient<T>(sent: Promise<T>): Promise<T>
  /** Aborts, with `unavailable`, when the room was taken from this upload. */
  readonly taken: AbortSignal
}

/**
 * What an upload may gather of a part without room for it. So the first byte of a part, which shows the store that the one
 * before is whole, never waits.
 */
const FIRST_BYTES = 32 * 1024

/** Made once: nobody reads it but in a defect, and each would cost a stack. */
const OVER = busy('The upload is over.')

export interface AllocationOptions {
  readonly userId: string
  readonly pool: MemoryPool
  readonly partSize: number
  readonly onWait: () => void
  readonly onEnd: () => void
}

/** The share itself, and what the memory has to know of it. */
export class Allocation implements MemoryAllocation {
  readonly userId: string
  readonly rate = new ClientRate()
  /** The pieces are Node's own copies of what came on the connection. */
  readonly detach = detachBuffer
  /** For how long it has been on its way out. */
  leavingMs = 0
  readonly #options: AllocationOptions
  readonly #taken = new AbortController()
  readonly #over = new AbortController()
  /** Bytes of the part that is being gathered, and the room that it has for them. */
  readonly #gathering = { bytes: 0, pool: 0 }
  /** Bytes of whole parts, and the room that they have. */
  readonly #sending = { bytes: 0, pool: 0 }
  /** Bytes that have come in all. */
  #came = 0

  constructor(options: AllocationOptions) {
    this.#options = options
    this.userId = options.userId
  }

  get taken(): AbortSignal {
    return this.#taken.signal
  }

  /** Bytes of room that it has beside what it began with. */
  get claimed(): number {
    return this.#gathering.pool + this.#sending.pool
  }

  async *hold(
    content: AsyncIterable<Uint8Array>,
    {
      partSize = this.#options.partSize,
      expectedSize = Number.POSITIVE_INFINITY,
    }: HoldOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    for await (const piece of this.rate.measure(content)) {
      let rest = piece
      do {
        const bytes = Math.min(rest.byteLength, this.#untilBound(partSize))
        await this.#makeRoom(bytes, { partSize, expectedSize })
        this.#came += bytes
        this.#gathering.bytes += bytes
        if (this.#gathering.bytes >= partSize) this.#send()
        const held = rest.subarray(0, bytes)
        // What has been handed on may be gone.
        rest = rest.subarray(bytes)
        yield held
      } while (rest.byteLength > 0)
    }
    this.#send()
  }

  async awaitClient<T>(sent: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    using _ = addAbortListener(this.taken, () => reject(this.taken.reason))
    return await this.rate.wait(Promise.race([sent, promise]))
  }

  release(bytes: number): void {
    this.#sending.bytes -= bytes
    this.#trim()
  }

  evict(): void {
    const reason = busy('The bytes came too slowly while others waited for memory.')
    this.#over.abort(reason)
    this.#taken.abort(reason)
  }

  [Symbol.dispose](): void {
    this.#over.abort(OVER)
    const { claimed } = this
    this.#gathering.pool = 0
    this.#sending.pool = 0
    if (claimed > 0) this.#options.pool.give(this.userId, claimed)
    this.#options.onEnd()
  }

  /** How much may come in one piece. None goes beyond a part, nor beyond its first bytes, which need no room. */
  #untilBound(partSize: number): number {
    if (partSize === 0) return Number.POSITIVE_INFINITY
    const { bytes } = this.#gathering
    return (bytes < FIRST_BYTES ? Math.min(FIRST_BYTES, partSize) : partSize) - bytes
  }

  /**
   * Takes the room for so many bytes more, so that whoever sends little gets little; when it is not to be had, claims all
   * that the part will need, as the room demands.
   */
  async #makeRoom(bytes: number, { partSize, expectedSize }: Gathering): Promise<void> {
    const gathered = this.#gathering.bytes + bytes
    const needed = gathered >= partSize ? gathered : Math.max(0, gathered - FIRST_BYTES)
    const lacking = needed - this.#gathering.pool
    if (lacking <= 0) return
    this.#over.signal.throwIfAborted()
    const { userId, pool, onWait } = this.#options
    if (pool.take(userId, lacking)) {
      this.#gathering.pool += lacking
      return
    }
    const left = expectedSize - this.#came
    const whole = left > 0 ? Math.min(partSize, this.#gathering.bytes + left) : partSize
    const missing = Math.max(lacking, whole - this.#gathering.pool)
    const grant = (): void => void (this.#gathering.pool += missing)
    await acquireMemory(pool, { userId, bytes: missing, grant, signal: this.#over.signal, onWait })
  }

  /** What was gathered is on its way out, and the room for it will come back. */
  #send(): void {
    this.#sending.bytes += this.#gathering.bytes
    this.#sending.pool += this.#gathering.pool
    this.#gathering.bytes = 0
    this.#gathering.pool = 0
    this.#trim()
  }

  #trim(): void {
    const bytes = this.#sending.pool - Math.max(0, this.#sending.bytes)
    if (bytes <= 0) return
    this.#sending.pool -= bytes
    this.#options.pool.give(this.userId, bytes)
  }
}

interface Gathering {
  readonly partSize: number
  readonly expectedSize: number
}
