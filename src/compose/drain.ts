import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'

/** See `http/server/connections.ts`. */
export interface OpenConnections {
  lastChangedAt(): number
  quietMs(): number
  closeIdle(idleMs: number): void
}

/** Time for load balancers to notice the stop, by `/readyz` or their orchestrator. */
export const DRAIN_MS = 3_000

/**
 * Waits up to `maxMs` until no connection has been open for a second: balancers have left, clients have seen
 * `Connection: close`. The second begins now, because balancers of a quiet service may not have noticed yet.
 */
export async function drain(connections: OpenConnections, maxMs: number): Promise<void> {
  const startedAt = performance.now()
  for (let ms = 0; ms < maxMs; ms = performance.now() - startedAt) {
    if (Math.min(ms, connections.quietMs()) >= QUIET_MS) return
    await delay(LOOK_MS)
  }
}

const QUIET_MS = 1_000
const LOOK_MS = 50

/**
 * Resolves when closing the listener resets no connection in the accept queue: after a short event-loop turn that
 * accepts none. (In a long turn, one can arrive after the poll.) Before that comes a quiet period, as answered clients
 * reconnect; it shrinks, so that a flood delays this by 2 s at most. The caller holds back requests: answers would
 * cause connections, work would cause long turns.
 */
export async function emptyQueue(connections: OpenConnections): Promise<void> {
  const endsAt = performance.now() + EMPTYING_MS
  // The current turn does not poll the queue again.
  await turn()
  for (let startedAt = performance.now(); startedAt < endsAt;) {
    await turn()
    const now = performance.now()
    const isShort = now - startedAt < SHORT_TURN_MS
    if (isShort && startedAt - connections.lastChangedAt() > (endsAt - now) * QUIET_SHARE) return
    startedAt = now
  }
}

const EMPTYING_MS = 2_000

/** Length of the quiet period, as a share of the remaining time. */
const QUIET_SHARE = 0.1

/** An idle turn takes 0.01 ms. */
const SHORT_TURN_MS = 0.1

/** Closes idle connections while a listener ends; a late request still gets its answer. */
export function closeIdleFromNowOn(connections: OpenConnections): Disposable {
  const close = (): void => connections.closeIdle(LAST_IDLE_MS)
  // One turn later, so that requests that arrived during a stall of the process are read first.
  const timer = setInterval(() => setImmediate(close), LOOK_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const LAST_IDLE_MS = 1_000
