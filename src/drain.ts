import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { OpenConnections } from './http/open-connections.ts'

/** Balancers ask `/readyz`, or learn from their orchestrator, within that time that they should look elsewhere. */
export const DRAIN_MS = 3_000

/**
 * Lets a listener that says it is stopping be used for up to `maxMs` more, and then resolves in the moment to close it,
 * so that closing resets nobody: a balancer has moved away, a client that keeps its connection has heard
 * `Connection: close` with an answer, and no connection waits to be accepted. Nothing is waited for where nobody comes.
 */
export async function drain(connections: readonly OpenConnections[], maxMs: number): Promise<void> {
  const endsAt = performance.now() + maxMs
  const isQuiet = (): boolean => connections.every((of) => of.quietMs() >= QUIET_MS)
  while (performance.now() < endsAt && !isQuiet()) await delay(LOOK_MS)
  await emptyQueue(connections)
}

const QUIET_MS = 1_000
const LOOK_MS = 50

/**
 * Whoever is in the system's queue when a listener closes is reset. So wait for a turn of the event loop that brings
 * no one and is short: in one that takes milliseconds, someone comes after it has looked.
 */
async function emptyQueue(connections: readonly OpenConnections[]): Promise<void> {
  const count = (): number => connections.reduce((sum, of) => sum + of.accepted(), 0)
  const endsAt = performance.now() + EMPTYING_MS
  // The rest of the turn under way does not look at the queue any more.
  await setImmediate()
  while (performance.now() < endsAt) {
    const [before, startedAt] = [count(), performance.now()]
    await setImmediate()
    if (count() === before && performance.now() - startedAt < SHORT_TURN_MS) return
  }
}

/** One with nothing to do takes a hundredth of a millisecond. */
const SHORT_TURN_MS = 0.1

/** Under a flood of connections there is no such turn. */
const EMPTYING_MS = 1_000

/** Closes, while a listener ends, what its clients leave open without a request; a late one still gets its answer. */
export function closeIdleFromNowOn(connections: readonly OpenConnections[]): Disposable {
  const timer = setInterval(() => connections.forEach((of) => of.closeIdle(LAST_IDLE_MS)), LOOK_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const LAST_IDLE_MS = 1_000
