import type { Server } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { AppError } from '../../core/errors.ts'
import { createConnections } from './pipelining-guard.ts'
import { shareAnswer } from './cors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { chunkThrottlePlugin } from './plugins/chunk-throttle.ts'
import { expectContinuePlugin } from './plugins/expect-continue.ts'
import { lingeringClosePlugin } from './plugins/lingering-close.ts'
import { requestHeadPlugin } from './plugins/request-head.ts'
import { createRequestLog } from './plugins/request-log.ts'
import { type RequestTraces, traceRequests } from './plugins/request-trace.ts'
import { sendProblem } from './problem.ts'
import type { RequestGate } from './request-gate.ts'
import { requestIds } from './request-id.ts'
import { meterUntilOver, type RequestMeter } from './request-meter.ts'

export interface ListenerOptions {
  readonly logger: FastifyBaseLogger | undefined
  /** Addresses (CIDR) of proxies whose `X-Forwarded-*` and `X-Request-Id` are believed. */
  readonly trustedProxies: readonly string[]
  /** Counts the requests; none when left out. */
  readonly meter?: RequestMeter
  /** Whether the service takes no new work, so that a balancer should look elsewhere. */
  readonly isStopping: () => boolean
  /** Holds requests back for a moment; always open when left out. */
  readonly gate?: RequestGate
  /** Aborts when requests are no longer waited for; never when left out. */
  readonly shutdown?: AbortSignal
  /** Without them no request is traced. */
  readonly traces?: RequestTraces | undefined
  /** Origins whose pages may read the answers; none when left out. */
  readonly allowedOrigins?: readonly string[]
  /** What a path that the router cannot read is refused with, where there is more to say than that. */
  readonly pathFault?: (url: string | undefined) => AppError | undefined
  /** How long what is left of a refused body is read, in milliseconds; 2 s when left out. */
  readonly lingerMs?: number | undefined
  /** How long a request's head may take to come, in milliseconds; 20 s when left out. */
  readonly headTimeoutMs?: number | undefined
  /** Fastify's own options that the listener wants otherwise. */
  readonly server?: Pick<FastifyHttpOptions<Server>, 'bodyLimit' | 'requestTimeout'>
}

/**
 * Makes a listener without routes, as both the public one and the admin's start: problem documents, one request at a
 * time on a connection, one line of log a request, and a refusal that its client can read.
 */
export async function createListener(options: ListenerOptions): Promise<FastifyInstance> {
  const connections = createConnections(options)
  const requestLog = createRequestLog(options.shutdown)
  const tracing = options.traces && traceRequests(options.traces)
  const forBrowsers = browserHeaders(options.allowedOrigins ?? [])
  const app = fastify({
    ...serverOptions(options, (request, reply) => {
      tracing?.onRefused(request, reply)
      requestLog.onRefused(request, reply)
      connections.onRefused(request.raw)
      meterUntilOver(options.meter, { request, reply })
      forBrowsers(request, reply)
    }),
    clientErrorHandler: connections.answer,
  })
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing under this path.')
  })
  await app.register(connections.plugin)
  app.addHook('onRequest', (_request, _reply, done) => {
    if (options.gate === undefined) done()
    else options.gate.pass(done)
  })
  await app.register(chunkThrottlePlugin)
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setMaxListeners(MOST_LISTENERS)
    meterUntilOver(options.meter, { request, reply })
    forBrowsers(request, reply)
    done()
  })
  app.addHook('onSend', async (_request, reply) => {
    // Else an idle connection would keep the process until its client lets go of it.
    if (options.isStopping()) void reply.header('connection', 'close')
  })
  // A body is read by a route that wants one, with its limits, and by nothing else.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  await app.register(requestLog.plugin)
  if (tracing !== undefined) await app.register(tracing.plugin)
  await app.register(expectContinuePlugin)
  await app.register(lingeringClosePlugin, {
    ...LINGERING_CLOSE,
    maxMs: options.lingerMs ?? LINGERING_CLOSE.maxMs,
  })
  await app.register(requestHeadPlugin)
  return app
}

const HEAD_TIMEOUT_MS = 20_000

/** A download has twelve for its end, Node's and Fastify's among them, where Node warns of a leak from ten on. */
const MOST_LISTENERS = 20

const LINGERING_CLOSE = { maxBytes: 32 * 2 ** 20, maxSmallChunks: 32 * 2 ** 10, maxMs: 2_000 }

type DescribeAnswer = (request: FastifyRequest, reply: FastifyReply) => void

/** Sets what every answer says to a browser before anything can refuse the request. */
function browserHeaders(allowedOrigins: readonly string[]): DescribeAnswer {
  const allowed = new Set(allowedOrigins)
  return (request, reply) => {
    void reply.headers(SECURITY_HEADERS)
    shareAnswer(allowed, { request, reply })
  }
}

function serverOptions(
  options: ListenerOptions,
  onRefusal: DescribeAnswer,
): FastifyHttpOptions<Server> {
  const { logger, trustedProxies, pathFault = () => undefined, server = {} } = options
  const { headTimeoutMs = HEAD_TIMEOUT_MS } = options
  return {
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    // `request-log.ts` writes one line a request, without its path.
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: requestIds(trustedProxies),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    exposeHeadRoutes: false,
    // What is sent is judged, never changed into what would be right: a number in quotes is none. `problem.ts` tells the
    // rule by the schema at fault, which `verbose` adds to the error.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        verbose: true,
      },
    },
    // Requests that come while the server drains are served, with `Connection: close`.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      onRefusal(request, reply)
      void sendProblem(pathFault(request.raw.url) ?? error, request, reply)
    },
    // Names are judged by our own parser, whose limit is in bytes; the head's size limits the rest.
    routerOptions: { maxParamLength: 64 * 1024 },
    // A body may take as long as its bytes keep coming; see idleTimeoutMs.
    requestTimeout: 0,
    connectionTimeout: 180_000,
    keepAliveTimeout: 72_000,
    http: {
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: headTimeoutMs / 4,
      // Refused by `request-head.ts`, with a problem document.
      requireHostHeader: false,
    },
    ...server,
  }
}
