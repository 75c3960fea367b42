import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
} from 'fastify'
import type { AccessTokens } from '../core/access-tokens.ts'
import { AppError } from '../core/errors.ts'
import type { Readiness } from '../core/readiness.ts'
import type { Repository } from '../core/repository.ts'
import { createConnections } from './connections.ts'
import { accessTokenPlugin } from './plugins/access-token.ts'
import { expectContinuePlugin } from './plugins/expect-continue.ts'
import { lingerPlugin } from './plugins/linger.ts'
import { multipartUploadPlugin } from './plugins/multipart-upload.ts'
import { requestLogPlugin } from './plugins/request-log.ts'
import { sameSitePlugin } from './plugins/same-site.ts'
import { sendProblem } from './problem.ts'
import { changeRoutes } from './routes/change.ts'
import { downloadRoutes } from './routes/download.ts'
import { fallbackRoutes } from './routes/fallback.ts'
import { healthRoutes } from './routes/health.ts'
import { listRoutes } from './routes/list.ts'
import { removalRoutes } from './routes/removal.ts'
import { uploadRoutes } from './routes/upload.ts'

export interface AppOptions {
  readonly repository: Repository
  readonly accessTokens: AccessTokens
  readonly readiness: Readiness
  readonly logger: FastifyBaseLogger | undefined
  /** Prefix of every path, such as `/api`; empty for none. */
  readonly basePath: string
  readonly allowedOrigins: readonly string[]
  /** Addresses (CIDR) of proxies whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[]
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  /** Whether the service takes no new work, so that a balancer should look elsewhere. */
  readonly isStopping: () => boolean
  /** Aborts what is still running when the grace period of a shutdown is over. */
  readonly shutdown: AbortSignal
}

/** Builds the public listener. What is registered here, in this order, is the map of the API. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const connections = createConnections()
  const app = fastify({ ...serverOptions(options), clientErrorHandler: connections.answer })
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing under this path.')
  })
  await app.register(connections.plugin)
  app.addHook('onSend', async (_request, reply) => {
    // Else an idle connection would keep the process until its client lets go of it.
    if (options.isStopping()) void reply.header('connection', 'close')
  })
  await app.register(expectContinuePlugin)
  await app.register(requestLogPlugin)
  await app.register(lingerPlugin, LINGER)
  const prefix = options.basePath
  await app.register(healthRoutes, { ...options, prefix })
  await app.register((scope) => usersScope(scope, options), { prefix })
  return app
}

/** Everything under `/users`: whoever writes here is no other site's page, and whoever has a token is known. */
async function usersScope(app: FastifyInstance, options: AppOptions): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  await app.register(sameSitePlugin, options)
  await app.register(accessTokenPlugin, options)
  await app.register(multipartUploadPlugin)
  await app.register(uploadRoutes, options)
  await app.register(downloadRoutes, options)
  await app.register(removalRoutes, options)
  await app.register(changeRoutes, options)
  await app.register(listRoutes, options)
  await app.register(fallbackRoutes, {
    allowed: {
      '/users/me/repo/:file_name': ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      '/users/:user_id/repo/:file_name': ['GET', 'HEAD'],
      '/users/:user_id/repo': ['GET', 'HEAD'],
    },
  })
}

const LINGER = { maxBytes: 32 * 2 ** 20, maxMs: 2_000 }

function serverOptions({ logger, trustedProxies }: AppOptions): FastifyHttpOptions<Server> {
  return {
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    // `request-log.ts` writes one line a request, without its path.
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    exposeHeadRoutes: false,
    // What is sent is judged, never changed into what would be right.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    // Requests that come while the server drains are served, with `Connection: close`.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      void sendProblem(nameFault(request.raw.url) ?? error, request, reply)
    },
    // Names are judged by our own parser, whose limit is in bytes; the head's size limits the rest.
    routerOptions: { maxParamLength: 64 * 1024 },
    // A body may take as long as its bytes keep coming; see idleTimeoutMs.
    requestTimeout: 0,
    connectionTimeout: 180_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 20_000, connectionsCheckingInterval: 5_000 },
  }
}

/** The router refuses a path that is not valid UTF-8 before any route sees it; mostly that is a file's name. */
function nameFault(url = ''): AppError | undefined {
  return /\/users\/[^/]+\/repo\/[^/?]+(\?|$)/.test(url)
    ? new AppError('invalid_file_name', 'The file name is not valid percent-encoded UTF-8.')
    : undefined
}
