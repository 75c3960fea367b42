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
export async function serve({ config, service, logger }: ServeOptions): Promise<RunningServer> {
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
  const sweeps = sweepRegularly({ sweeper: service.sweeper, logger, signal })
  const records = recordRegularly({ accessTokens: service.accessTokens, logger, signal })
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
      await Promise.all([app.close(), sweeps, records])
    } finally {
      deadlines.forEach(clearTimeout)
    }
    const last = recordUses({ accessTokens: service.accessTokens, logger })
    await Promise.race([last, delay(LAST_RECORD_MS, undefined, { ref: false })])
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

interface SweepOptions {
  readonly sweeper: Sweeper
  readonly logger: FastifyBaseLogger
  readonly signal: AbortSignal
}

async function sweepRegularly(options: SweepOptions): Promise<void> {
  const { logger, signal } = options
  try {
    for await (const _ of setInterval(SWEEP_INTERVAL_MS, undefined, { signal, ref: false })) {
      await sweepOnce(options)
    }
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'sweeping ended')
  }
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

async function recordRegularly(
  options: RecordOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { logger, signal } = options
  try {
    for await (const _ of setInterval(RECORD_INTERVAL_MS, undefined, { signal, ref: false })) {
      await recordUses(options)
    }
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'recording the use of access tokens ended')
  }
}

async function recordUses({ accessTokens, logger }: RecordOptions): Promise<void> {
  try {
    await accessTokens.recordUses()
  } catch (error) {
    logger.warn({ err: error }, 'the use of access tokens was not recorded')
  }
}
