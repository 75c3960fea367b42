import type { FairSemaphore, Permit } from '../async/fair-semaphore.ts'
import { busy } from '../errors.ts'
import type { BodyMemory } from './body-memory.ts'

/** The rate is measured over this much time spent waiting for the client. */
const WINDOW_MS = 5_000

/** Listeners close idle connections a little later. */
export const LATE = {
  ms: 135_000,
  error: () => busy('No memory is available for this upload.'),
}

/** Shared, because creating an error captures a stack, which only a defect would show. */
const OVER = busy('The upload has ended.')

/** What an upload has received, to measure how fast its client sends. */
export interface ReceivedBytes {
  readonly bytes: number
  /** Whether the upload waits for its client, and not for memory or the store. */
  readonly isAwaited: boolean
}

export interface AllocationOptions {
  readonly userId: string
  readonly parts: FairSemaphore
  /** Called when the allocation is disposed of. */
  readonly onEnd: (allocation: MemoryAllocation) => void
}

/** One upload's share of the memory. Its owner disposes of it, which releases everything. */
export class MemoryAllocation implements BodyMemory, Disposable {
  readonly userId: string
  /** Rate of the client in the last window; infinite before the first window ends. */
  bytesPerSecond = Number.POSITIVE_INFINITY
  readonly #options: AllocationOptions
  readonly #evicted = new AbortController()
  /** Aborts with `unavailable` on eviction. */
  readonly evicted = this.#evicted.signal
  /** The permits for parts, with their bytes. */
  readonly #permits = new Map<Permit, number>()
  #isOver = false
  #received: ReceivedBytes | undefined
  #window = { ms: 0, bytes: 0 }

  constructor(options: AllocationOptions) {
    this.#options = options
    this.userId = options.userId
  }

  /** Bytes held for parts. */
  get partBytes(): number {
    return [...this.#permits.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  async acquire(bytes: number, signal: AbortSignal): Promise<Permit> {
    const { userId: owner, parts } = this.#options
    const ends = AbortSignal.any([signal, this.evicted])
    const permit = await parts.acquire({ owner, permits: bytes, signal: ends, late: LATE })
    if (!this.#isOver) return this.#keep(permit, bytes)
    permit.release()
    throw OVER
  }

  tryAcquire(bytes: number): Permit | undefined {
    const { userId: owner, parts } = this.#options
    const permit = this.#isOver ? undefined : parts.tryAcquire({ owner, permits: bytes })
    return permit && this.#keep(permit, bytes)
  }

  /** Measures the client by this from now on. */
  watch(received: ReceivedBytes): void {
    this.#received = received
    this.#window = { ms: 0, bytes: received.bytes }
  }

  tick(ms: number): void {
    if (this.#received?.isAwaited !== true) return
    const { bytes } = this.#received
    this.#window.ms += ms
    if (this.#window.ms < WINDOW_MS) return
    this.bytesPerSecond = ((bytes - this.#window.bytes) * 1000) / this.#window.ms
    this.#window = { ms: 0, bytes }
  }

  evict(): void {
    this.#evicted.abort(busy('The upload was too slow while others waited for memory.'))
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    for (const permit of this.#permits.keys()) permit.release()
    this.#permits.clear()
    this.#options.onEnd(this)
  }

  #keep(permit: Permit, bytes: number): Permit {
    this.#permits.set(permit, bytes)
    return {
      release: () => {
        this.#permits.delete(permit)
        permit.release()
      },
    }
  }
}
