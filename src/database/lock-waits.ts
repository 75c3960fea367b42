import { FairSemaphore } from '../core/async/fair-semaphore.ts'
import { type Lane, tooLate } from './repeats.ts'

/** The lane as a user sees it. */
export type LaneOf = (by: string) => Lane

/** Longer than most commits, so that changes of one user take turns in the order in which they reach the database. */
export const LOCK_WAIT_MS = 100

/** As many as upload batches run at a time. */
const FREE_CONNECTIONS = 2

/**
 * Bounds how many connections of a pool wait for locks. A session may hold the rows of any number of users for seconds:
 * an operator's transaction, or an instance that hangs. What waits for such a row gives up its connection after
 * `LOCK_WAIT_MS` and tries again. Without lanes, the tries of a few users would still take all connections. In a lane,
 * users take turns.
 */
export function createLockWaits(connections: number) {
  return {
    /** For work that can wait for a lock. Leaves connections to batches and reads, which wait for none. */
    mayWait: createLane(connections - FREE_CONNECTIONS),
    /** For work that has found a lock taken, and probably finds it taken again. */
    waits: createLane(Math.floor(connections / 5)),
  }
}

function createLane(atOnce: number): LaneOf {
  const semaphore = new FairSemaphore({ permits: Math.max(1, atOnce) })
  return (owner) => (work, ms) =>
    semaphore.run({ owner, late: { ms, error: () => tooLate(ms) } }, work)
}
