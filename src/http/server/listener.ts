import type { Server } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { AppError } from '../../core/errors.ts'
import { Connections } from './connections.ts'
import { answerPreflight, SECURITY_HEADERS, shareAnswer } from './cors.ts'
import { sendProblem } from './problem.ts'
import { assertUnambiguous, requestIds } from './request-head.ts'
import {
  beginTrace,
  decorateOutcome,
  followToEnd,
  type RequestMeter,
  type RequestTraces,
} from './request-outcome.ts'
import {
  holdBody,
  isUnread,
  leaveContinueToHandlers,
  lingerOver,
  shareIntake,
} from './unread-body.ts'

export interface ListenerOptions {
  readonly logger: FastifyBaseLogger | undefined
  /** Addresses (CIDR) of proxies whose `X-Forwarded-*` and `X-Request-Id` are believed. */
  readonly trustedProxies: readonly string[]
  /** Counts the requests; none when left out. */
  readonly meter?: RequestMeter
  /** Aborts when the service takes no new work, so that clients and balancers should look elsewhere. */
  readonly stopping: AbortSignal
  /** Takes charge of the connections, with those of other listeners; made here when left out. */
  readonly connections?: Connections
  /** Aborts when requests are no longer waited for; never when left out. */
  readonly shutdown?: AbortSignal
  /** Without them no request is traced. */
  readonly traces?: RequestTraces | undefined
  /** Other origins whose pages may use the service; when left out, it answers no preflight either. */
  readonly allowedOrigins?: readonly string[]
  /** What a path that the router cannot read is refused with, where there is more to say than that. */
  readonly pathFault?: (url: string | undefined) => AppError | undefined
  /** How long what is left of a refused body is read, in milliseconds; 2 s when left out. */
  readonly lingerMs?: number | undefined
  /** How long a request's head may take to come, in milliseconds; 20 s when left out. */
  readonly headTimeoutMs?: number | undefined
  /** Fastify's own options that the listener wants otherwise. */
  readonly server?: Pick<FastifyHttpOptions<Server>, 'requestTimeout'>
}

/**
 * Makes a listener without routes, as both the public one and the admin's start: problem documents, one request at a
 * time on a connection, one line of log a request, and a refusal that its client can read.
 */
export async function createListener(options: ListenerOptions): Promise<FastifyInstance> {
  const { connections = new Connections(), traces } = options
  const describe = describeAnswers({ ...options, connections })
  const app = fastify({
    ...serverOptions(options),
    clientErrorHandler: connections.refuse,
    // Such a request meets no hook.
    frameworkErrors: (error, request, reply) => {
      const fault = options.pathFault?.(request.raw.url) ?? error
      const isBegun = connections.begin(reply.raw, () => {
        if (traces !== undefined) beginTrace(traces, request, reply)
        describe(request, reply, () => void sendProblem(fault, request, reply))
      })
      if (!isBegun) reply.hijack()
    },
  })
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing under this path.')
  })
  // A body is read by a route that wants one, with its limits, and by nothing else.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  connections.watch(app.server, options)
  leaveContinueToHandlers(app)
  shareIntake(app)
  decorateOutcome(app)
  app.addHook('onRequest', (_request, reply, done) => {
    if (!connections.begin(reply.raw, done)) reply.hijack()
  })
  app.addHook('onRequest', describe)
  if (traces !== undefined) {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.isProbe === true) done()
      else beginTrace(traces, request, reply).within(done)
    })
  }
  refuseUnfit(app, options)
  endConnections(app, options)
  return app
}

/** Returns the hook that is run for each request before anything can refuse it. */
function describeAnswers(
  options: ListenerOptions & { readonly connections: Connections },
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const allowed = new Set(options.allowedOrigins)
  return (request, reply, done) => {
    reply.raw.setMaxListeners(MOST_LISTENERS)
    followToEnd(request, reply, options)
    void reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id })
    if (allowed.size > 0) shareAnswer({ request, reply, allowed })
    done()
  }
}

/** Refuses what no route should see, and answers the preflights of the routes. */
function refuseUnfit(app: FastifyInstance, { allowedOrigins }: ListenerOptions): void {
  const allowed = allowedOrigins && new Set(allowedOrigins)
  app.addHook('onRequest', (request, reply, done) => {
    holdBody(request, reply)
    assertUnambiguous(request.raw)
    const isPreflight = request.method === 'OPTIONS' && allowed !== undefined
    if (!isPreflight || !answerPreflight({ request, reply, allowed })) done()
  })
}

/** Closes a connection with the answer: when the service is stopping, or when the body of the request has not come. */
function endConnections(app: FastifyInstance, options: ListenerOptions): void {
  const { stopping, lingerMs: maxMs = 2_000 } = options
  app.addHook('onSend', async (request, reply, payload) => {
    // Else an idle connection would keep the process until its client lets go of it.
    if (stopping.aborted) void reply.header('connection', 'close')
    return isUnread(request.raw) ? lingerOver({ request, reply, payload, maxMs }) : payload
  })
}

const HEAD_TIMEOUT_MS = 20_000

/** A download has ten or more for its end, Node's and Fastify's among them, where Node warns of a leak from ten on. */
const MOST_LISTENERS = 20

function serverOptions(options: ListenerOptions): FastifyHttpOptions<Server> {
  const { logger, trustedProxies, server, headTimeoutMs = HEAD_TIMEOUT_MS } = options
  return {
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    // `request-outcome.ts` writes one line a request, without its path.
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
