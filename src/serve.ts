import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { buildAdmin } from './http/admin/app.ts'
import { buildMonitoring } from './http/admin/monitoring.ts'
import { type JobIntervals, startBackgroundJobs } from './compose/background-jobs.ts'
import { logBackups } from './compose/backup/backup-log.ts'
import { stop } from './compose/stop.ts'
import { logWebhooks } from './compose/webhook-log.ts'
import { type Config, ConfigError } from './config/config.ts'
import { settledWithin } from './core/async/deadline.ts'
import { LISTINGS_AT_ONCE } from './http/public/listing-turns.ts'
import { buildApp } from './http/public/app.ts'
import { createDownloads } from './http/download/downloads.ts'
import { Connections } from './http/server/connections.ts'
import type { ListenerTimeouts, StopSignals } from './http/server/listener.ts'
import { createServiceAddress } from './http/server/service-address.ts'
import { brandPages } from './http/pages/brand.ts'
import { addressPages } from './http/pages/public-url.ts'
import {
  type DocumentPages,
  languagesOf,
  openDocuments,
  openPages,
  type Pages,
} from './http/pages/open-pages.ts'
import type { PageFile, WebPage } from './http/pages/static-assets.ts'
import type { Service } from './compose/compose.ts'
import type { Tracing } from './tracing/tracing.ts'

export interface ServeOptions {
  readonly config: Config
  readonly service: Service
  readonly logger: FastifyBaseLogger
  readonly tracing?: Tracing | undefined
  readonly pages?: string
  readonly intervals?: JobIntervals
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:3000`, without the base path. */
  readonly url: string
  readonly hasPage: boolean
  /** `undefined`: no admin listener, or no page. */
  readonly operatorPageUrl: string | undefined
  /**
   * Announces the stop at once (`/readyz`, `Connection: close`) and accepts for up to `drainMs` milliseconds more
   * (default 0). Then requests may finish within the grace period, which counts from the call; the rest get 503.
   * Resolves when nothing runs any more. The service stays open. Idempotent.
   */
  stop(options?: { readonly drainMs: number }): Promise<void>
}

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { config, service, logger, tracing, intervals, pages: folder = PAGES } = options
  const stopping = new AbortController()
  const shutdown = new AbortController()
  const connections = new Connections()
  let stopped: Promise<void> | undefined
  const pages = config.webPage ? await openServedPages(folder, { config, logger }) : undefined
  service.metrics.watchProcess({ version: service.instance.version })
  const listeners = await buildListeners({
    config,
    service,
    logger,
    tracing,
    connections,
    signals: { stopping: stopping.signal, shutdown: shutdown.signal },
    pages: {
      user: pages?.user,
      operator: pages?.operator,
      link: pages?.link,
      docs: await openDocuments(folder, logger),
    },
  })
  await endGoneUploads(service, { logger, shutdown: shutdown.signal })
  // Also for the next start, even if nothing is written until then.
  await service.keepReserve()
  const [url = '', adminUrl] = await listenAll(listeners)
  const { sweeper, accessTokens, uploads, grantPeriods, overview } = service
  const webhooks = service.webhookDelivery?.(logWebhooks(logger))
  const jobs = startBackgroundJobs({
    sweeper,
    recordUses: () => accessTokens.recordUses(),
    stopAsked: () => uploads.stopAsked(),
    noteGrants: (signal) => grantPeriods.note(signal),
    recordDay: (signal) => overview.recordDay(signal),
    makeBackups: (signal) => service.makeBackups?.(logBackups(logger), signal) ?? Promise.resolve(),
    deliverWebhooks: (signal) => webhooks?.run(signal) ?? Promise.resolve(),
    logger,
    intervals,
  })
  const running = { listeners, connections, jobs, shutdown, tracing, uploads }
  const isOperatorPageThere = config.admin !== undefined && pages?.operator.document !== undefined
  return {
    url,
    hasPage: pages?.user.document !== undefined,
    operatorPageUrl: isOperatorPageThere ? adminUrl : undefined,
    stop: ({ drainMs } = { drainMs: 0 }) => {
      stopping.abort()
      return (stopped ??= stop(running, drainMs))
    },
  }
}

export interface ListenersOptions {
  readonly config: Config
  readonly service: Service
  readonly logger: FastifyBaseLogger
  readonly tracing?: Tracing | undefined
  readonly connections: Connections
  readonly signals: StopSignals
  readonly pages?: BuiltPages
  /** For tests. */
  readonly timeouts?: ListenerTimeouts
}

interface BuiltPages {
  readonly user?: WebPage | undefined
  readonly operator?: WebPage | undefined
  readonly link?: PageFile | undefined
  readonly docs?: DocumentPages
}

export interface Listener {
  readonly name: string
  readonly app: FastifyInstance
  readonly host: string
  readonly port: number
  readonly reusePort?: boolean
}

export async function buildListeners(options: ListenersOptions): Promise<readonly Listener[]> {
  const { config, service, logger, tracing: traces, connections, signals } = options
  const { pages = {}, timeouts = {} } = options
  const { trustedProxies } = config
  const context = { logger, trustedProxies, connections, signals, traces, timeouts }
  const { readiness, metrics } = service
  const downloads = createDownloads({
    perOwner: config.maxDownloadsPerUser,
    total: config.maxDownloads,
  })
  const app = await buildApp(context, {
    meter: metrics.meterRequests('public'),
    useCases: service,
    limits: {
      maxFiles: config.maxFiles,
      maxFileSize: config.maxFileSize,
      listings: LISTINGS_AT_ONCE[config.database.kind],
    },
    downloads,
    address: createServiceAddress({ publicUrl: config.publicUrl, basePath: config.basePath }),
    allowedOrigins: config.allowedOrigins,
    redirect: service.redirect,
    apiDocs: config.apiDocs ? { page: pages.docs?.public } : undefined,
    page: pages.user,
    linkPage: pages.link,
  })
  const { host, port, reusePort } = config
  const listeners: Listener[] = [{ name: 'the API', app, host, port, reusePort }]
  if (config.admin !== undefined) {
    const { host, port, token } = config.admin
    const app = await buildAdmin(context, {
      meter: metrics.meterRequests('admin'),
      useCases: service,
      metrics,
      readiness,
      downloads,
      token,
      page: pages.operator,
      docs: pages.docs?.admin,
    })
    listeners.push({ name: 'the admin API', app, host, port })
  }
  if (config.metrics !== undefined) {
    const { host, port } = config.metrics
    const meter = metrics.meterRequests('metrics')
    const app = await buildMonitoring(context, { meter, metrics, readiness })
    listeners.push({ name: 'the metrics endpoint', app, host, port })
  }
  return listeners
}

async function openServedPages(
  folder: string,
  { config: { brand, publicUrl }, logger }: Pick<ServeOptions, 'config' | 'logger'>,
): Promise<Pages> {
  const pages = await openPages(folder, logger)
  const languages = languagesOf(pages.user)
  const isBuilt = pages.user.document !== undefined
  if (isBuilt && brand.language !== undefined && !languages.includes(brand.language)) {
    throw new ConfigError([`PAGE_LANGUAGE: must be one of ${languages.join(', ')}`])
  }
  return addressPages(await brandPages(pages, brand), publicUrl)
}

/** Frees the space of crashed uploads before serving, but waits only a limited time: there may be many. */
async function endGoneUploads(
  service: Service,
  { logger, shutdown }: { readonly logger: FastifyBaseLogger; readonly shutdown: AbortSignal },
): Promise<void> {
  const uploads = await service.join()
  if (uploads === 0) return
  const expired = service.sweeper.expire(shutdown).catch((err: unknown) => {
    logger.warn({ err }, 'aborting the uploads of a crashed process failed; retrying')
  })
  await settledWithin(GIVE_BACK_MS, expired)
  logger.info({ uploads }, 'upload leases of a crashed process ended')
}

const GIVE_BACK_MS = 10_000

/** The same relative path in the source and in the emitted code. */
const PAGES = fileURLToPath(new URL('../dist/web', import.meta.url))

async function listenAll(listeners: readonly Listener[]): Promise<readonly string[]> {
  try {
    const urls: string[] = []
    for (const { name, app, host, port, reusePort = false } of listeners) {
      const listenTextResolver = (address: string): string => `${name} listens at ${address}`
      const listenOptions = { host, port, reusePort, listenTextResolver }
      urls.push(await app.listen(listenOptions))
    }
    return urls
  } catch (error) {
    await Promise.all(listeners.map(({ app }) => app.close()))
    throw error
  }
}
