import { setImmediate as iteration, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Deadline } from '../core/async/deadline.ts'
import { AppError } from '../core/errors.ts'
import type { ResumableUploads } from '../core/resumable/resumable-uploads.ts'
import type { Connections } from '../http/server/connections.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { BackgroundJobs } from './background-jobs.ts'

export interface Running {
  readonly listeners: readonly { readonly app: FastifyInstance }[]
  readonly connections: Connections
  readonly jobs: BackgroundJobs
  readonly tracing: Tracing | undefined
  readonly uploads: ResumableUploads
  /** Aborted when the grace period is over. */
  readonly shutdown: AbortController
}

/** See `RunningServer.stop`. */
export async function stop(running: Running, drainMs: number): Promise<void> {
  const { listeners, connections, jobs, shutdown, tracing, uploads } = running
  const sweeps = jobs.stop()
  const deadlines = [
    new Deadline(GRACE_MS, () => {
      shutdown.abort(new AppError('unavailable', 'The service is shutting down.'))
    }),
    // Clients that neither read nor close would keep the process alive for ever.
    new Deadline(GRACE_MS + FAREWELL_MS, () => {
      for (const { app } of listeners) app.server.closeAllConnections()
    }),
  ]
  try {
    await drain(connections, drainMs)
    // Appends respond with the offset that they have reached, so a restart costs them nothing.
    const recorded = uploads.stopAll()
    await closeListeners(running)
    await recorded
    using _ = closeIdleFromNowOn(connections)
    await Promise.all([...listeners.map(({ app }) => app.close()), sweeps])
  } finally {
    deadlines.forEach((deadline) => deadline.clear())
  }
  await Promise.all([jobs.recordLast(), tracing?.close()])
}

async function closeListeners({ listeners, connections }: Running): Promise<void> {
  using _ = connections.hold()
  await emptyQueue(connections)
  // At once: Fastify's `close` does other work first.
  for (const { app } of listeners) app.server.close()
}

/** Orchestrators usually kill after 30 s; remaining requests get their 503 before that. */
const GRACE_MS = 25_000
const FAREWELL_MS = 3_000

/** How long `stop` takes at most, apart from the last records and spans. The grace of an orchestrator must be longer. */
export const STOP_MS = GRACE_MS + FAREWELL_MS

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
 * Resolves when closing the listener resets no connection in the accept queue: after a short event-loop iteration that
 * accepts none. (In a long one, one can arrive after the poll.) Before that comes a quiet period, as answered clients
 * reconnect; it shrinks, so that a flood delays this by 2 s at most. The caller holds back requests: answers would
 * cause connections, work would cause long iterations.
 */
export async function emptyQueue(connections: OpenConnections): Promise<void> {
  const endsAt = performance.now() + EMPTYING_MS
  // The current iteration does not poll the queue again.
  await iteration()
  for (let startedAt = performance.now(); startedAt < endsAt;) {
    await iteration()
    const now = performance.now()
    const isShort = now - startedAt < SHORT_ITERATION_MS
    if (isShort && startedAt - connections.lastChangedAt() > (endsAt - now) * QUIET_SHARE) return
    startedAt = now
  }
}

const EMPTYING_MS = 2_000

/** Length of the quiet period, as a share of the remaining time. */
const QUIET_SHARE = 0.1

/** An idle one takes 0.01 ms. */
const SHORT_ITERATION_MS = 0.1

/** Closes idle connections while a listener ends; a late request still gets its answer. */
export function closeIdleFromNowOn(connections: OpenConnections): Disposable {
  const close = (): void => connections.closeIdle(LAST_IDLE_MS)
  // One iteration later, so that requests that arrived during a stall of the process are read first.
  const timer = setInterval(() => setImmediate(close), LOOK_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const LAST_IDLE_MS = 1_000
