import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Connections } from './http/server/connections.ts'

/** What is to be known of the connections of listeners that are about to close. */
export type OpenConnections = Pick<Connections, 'lastChangedAt' | 'quietMs' | 'closeIdle'>

/** Balancers ask `/readyz`, or learn from their orchestrator, within that time that they should look elsewhere. */
export const DRAIN_MS = 3_000

/**
 * Lets a listener that says it is stopping be used for up to `maxMs` more, so that closing it resets nobody: a balancer
 * has moved away, and a client that keeps its connection has heard `Connection: close` with an answer. Nothing is waited
 * for where nobody comes.
 */
export async function drain(connections: OpenConnections, maxMs: number): Promise<void> {
  const endsAt = performance.now() + maxMs
  while (performance.now() < endsAt && connections.quietMs() < QUIET_MS) await delay(LOOK_MS)
}

const QUIET_MS = 1_000
const LOOK_MS = 50

/**
 * Resolves in the moment to close a listener: the connections in the system's queue, which closing would reset, have been
 * accepted. That is after a turn of the event loop that brings no one and is short: in one that takes milliseconds,
 * someone comes after it has looked. Before that nobody should have come for a while, nor have been answered, since a client
 * then connects again; the while gets shorter, so that a flood of connections cannot hold this up for over two seconds. New
 * requests are to be held back meanwhile: their answers would bring further connections, and their work long turns.
 */
export async function emptyQueue(connections: OpenConnections): Promise<void> {
  const endsAt = performance.now() + EMPTYING_MS
  // The rest of the turn under way does not look at the queue any more.
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

/** How long that while is, as a part of the time that is left. */
const QUIET_SHARE = 0.1

/** One with nothing to do takes a hundredth of a millisecond. */
const SHORT_TURN_MS = 0.1

/** Closes, while a listener ends, what its clients leave open without a request; a late one still gets its answer. */
export function closeIdleFromNowOn(connections: OpenConnections): Disposable {
  const close = (): void => connections.closeIdle(LAST_IDLE_MS)
  // A turn later: what came during a stall of the process is read first.
  const timer = setInterval(() => setImmediate(close), LOOK_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const LAST_IDLE_MS = 1_000
