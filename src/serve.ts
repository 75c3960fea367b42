import { setInterval, setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from './config.ts'
import type { AccessTokens } from './core/access-tokens.ts'
import { AppError } from './core/errors.ts'
import type { Sweeper } from './core/sweeper.ts'
import { buildApp } from './http/app.ts'
import type { Service } from './service.ts'

export interface ServeOptions {
  readonly config: Config
  readonly service: Service
  readonly logger: FastifyBaseLogger
  /** How often the use of access tokens is recorded, for tests; every minute when left out. */
  readonly recordIntervalMs?: number
}

export interface RunningServer {
  /** The address it listens on, such as `http://127.0.0.1:3000`, without the base path. */
  readonly url: string
  /**
   * Stops accepting, lets requests under way finish within the grace period, aborts the rest with 503, and resolves
   * when nothing runs any more. The service is still open then. Idempotent.
   */
  stop(): Promise<void>
}

/** Listens, and sweeps from time to time, until it is stopped. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { config, service, logger, recordIntervalMs = RECORD_INTERVAL_MS } = options
  const shutdown = new AbortController()
  let stopped: Promise<void> | undefined
  const app = await buildApp({
    repository: service.repository,
    accessTokens: service.accessTokens,
    readiness: service.readiness,
    basePath: config.basePath,
    allowedOrigins: config.allowedOrigins,
    trustedProxies: config.trustedProxies,
    logger,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    isStopping: () => stopped !== undefined,
    shutdown: shutdown.signal,
  })
  const url = await app.listen({ host: config.host, port: config.port })
  const chores = new AbortController()
  const { signal } = chores
  const { sweeper, accessTokens } = service
  const sweep = () => sweepOnce({ sweeper, logger, signal })
  const record = () => recordUses({ accessTokens, logger })
  const sweeps = repeat({ everyMs: SWEEP_INTERVAL_MS, run: sweep, logger, signal })
  const records = repeat({ everyMs: recordIntervalMs, run: record, logger, signal })
  async function stop(): Promise<void> {
    chores.abort()
    const deadlines = [
      setTimeout(() => {
        shutdown.abort(new AppError('unavailable', 'The service is shutting down.'))
      }, GRACE_MS),
      // Clients that neither read their answer nor close would keep the process for ever.
      setTimeout(() => app.server.closeAllConnections(), GRACE_MS + FAREWELL_MS),
    ]
    try {
      await Promise.all([app.close(), sweeps])
    } finally {
      deadlines.forEach(clearTimeout)
    }
    const recorded = Promise.all([records, record()])
    await Promise.race([recorded, delay(LAST_RECORD_MS, undefined, { ref: false })])
  }

  return { url, stop: () => (stopped ??= stop()) }
}

/** How long a body may stop coming before the request is given up. */
const IDLE_TIMEOUT_MS = 60_000

/** How old `last_used_at` of an access token can be while the token is in use. */
const RECORD_INTERVAL_MS = 60_000

/** It is only a time stamp, so a database that is gone does not hold up the end. */
const LAST_RECORD_MS = 1_000

/** Orchestrators commonly kill after 30 s; what is left then is refused in time to be told so. */
const GRACE_MS = 25_000
const FAREWELL_MS = 3_000

/** With the lease it bounds how long a crash can hold capacity: 60 s + 20 s and the sweep itself. */
const SWEEP_INTERVAL_MS = 20_000

interface Chore {
  readonly everyMs: number
  readonly signal: AbortSignal
  readonly logger: FastifyBaseLogger
  /** Logs what fails and never rejects. */
  readonly run: () => Promise<void>
}

/** Runs a chore from time to time until the signal aborts. */
async function repeat({ everyMs, signal, logger, run }: Chore): Promise<void> {
  try {
    for await (const _ of setInterval(everyMs, undefined, { signal, ref: false })) await run()
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'a chore ended')
  }
}

interface SweepOptions {
  readonly sweeper: Sweeper
  readonly logger: FastifyBaseLogger
  readonly signal: AbortSignal
}

async function sweepOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  try {
    const report = await sweeper.sweep(signal)
    const { firstFailure, ...counts } = report
    if (counts.failedRemovals > 0) logger.warn({ ...counts, err: firstFailure }, 'sweep')
    else if (Object.values(counts).some((count) => count > 0)) logger.info(counts, 'sweep')
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'sweep failed')
  }
}

interface RecordOptions {
  readonly accessTokens: AccessTokens
  readonly logger: FastifyBaseLogger
}

async function recordUses({ accessTokens, logger }: RecordOptions): Promise<void> {
  try {
    await accessTokens.recordUses()
  } catch (error) {
    logger.warn({ err: error }, 'the use of access tokens was not recorded')
  }
}
