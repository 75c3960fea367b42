import type { FastifyInstance } from 'fastify'
import { Deadline } from '../core/async/deadline.ts'
import { AppError } from '../core/errors.ts'
import type { ResumableUploads } from '../core/resumable/resumable-uploads.ts'
import type { Connections } from '../http/server/connections.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { BackgroundJobs } from './background-jobs.ts'
import { closeIdleFromNowOn, drain, emptyQueue } from './drain.ts'

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
