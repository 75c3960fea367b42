import type { Permit } from '../async/fair-semaphore.ts'

/** Memory of one body, which its store collects in parts before it sends them. The caller provides it to the store. */
export interface BodyMemory {
  /**
   * Waits for all the memory of one part, so that whoever has a permit needs nothing more to release it. Rejects with
   * `unavailable` if that takes too long or if others need the memory more, and with the signal's reason.
   */
  acquire(bytes: number, signal: AbortSignal): Promise<Permit>
  /** `undefined` if the memory is not free now. */
  tryAcquire(bytes: number): Permit | undefined
}

/**
 * The first bytes of a part need no permit. So slow bodies hold none, and the byte that shows that the previous part is
 * complete never waits.
 */
export const FIRST_BYTES = 32 * 1024
