import type { FastifyRequest } from 'fastify'
import { sleep } from '../../core/async/sleep.ts'
import { TimeShares } from '../../core/async/time-shares.ts'
import { ownerOf } from '../server/reader-slots.ts'

/**
 * Has users, and addresses without a token, share the time of the event loop: after a request that took long, its owner
 * waits for three times as long before the next one of that kind, while others are active.
 */
export class LoopShares {
  readonly #shares = new TimeShares()

  /** Notes that the owner of the request is active. */
  note(request: FastifyRequest): void {
    this.#shares.note(ownerOf(request).owner, 0)
  }

  /** Milliseconds for which the owner has to wait. */
  pauseOf(owner: string): number {
    return this.#shares.pauseOf(owner)
  }

  /** Resolves when the owner need not wait; rejects when `signal` aborts. */
  async wait(owner: string, signal: AbortSignal): Promise<void> {
    for (let pause = this.pauseOf(owner); pause > 0; pause = this.pauseOf(owner)) {
      await sleep(pause, signal)
    }
  }

  /** Returns a function to call when the work is done: it charges the owner for the time that the event loop was busy. */
  measure(owner: string): () => void {
    const before = performance.eventLoopUtilization()
    return () => this.#shares.charge(owner, performance.eventLoopUtilization(before).active)
  }
}
