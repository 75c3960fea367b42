import type { Server } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { AppError } from '../../core/errors.ts'
import { SECURITY_HEADERS } from '../headers/security-headers.ts'
import { takeJson } from '../body/json-body.ts'
import { readIntegers } from '../openapi/parameters.ts'
import type { Connections } from './connections.ts'
import { answerPreflight, shareAnswer } from './cors.ts'
import { sendProblem, pathNotFound } from './problem.ts'
import { hasKnownCoding } from '../headers/content-headers.ts'
import { parseQuery } from './query.ts'
import { decoratePeer, requestIds, type TrustsProxy, trustOf } from './forwarded.ts'
import { assertUnambiguous } from './request-head.ts'
import {
  beginTrace,
  decorateOutcome,
  followToEnd,
  type OutcomeOptions,
  type RequestMeter,
  type RequestTraces,
} from './request-outcome.ts'
import {
  holdBody,
  isUnread,
  leaveContinueToHandlers,
  lingerOver,
  shareReads,
} from './unread-body.ts'
import { limitReader, limitUnreadAnswers } from './unread-answer.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly signals: StopSignals
    /** How long a body may stall. Readers of a download get three times as long. */
    readonly idleTimeoutMs: number
  }
}

/** What the listeners of a process share. */
export interface ListenerContext {
  readonly logger: FastifyBaseLogger | undefined
  /** Addresses (CIDR) of proxies whose `X-Forwarded-*` and `X-Request-Id` are trusted. */
  readonly trustedProxies: readonly string[]
  readonly connections: Connections
  readonly signals: StopSignals
  readonly traces?: RequestTraces | undefined
  readonly timeouts?: ListenerTimeouts
}

export interface StopSignals {
  /** Aborts when the service takes no new work. */
  readonly stopping: AbortSignal
  /** Aborts when the grace period of a shutdown ends. */
  readonly shutdown: AbortSignal
}

export interface ListenerTimeouts {
  /** See `FastifyInstance`; 60 s by default. */
  readonly idleTimeoutMs?: number | undefined
  /** How long a refused body is drained; 2 s by default. */
  readonly lingerMs?: number | undefined
  /** How long a request's head may take; 20 s by default. */
  readonly headTimeoutMs?: number | undefined
  /** See `limitReader`; 30 s by default. */
  readonly readerTimeoutMs?: number | undefined
}

export interface ListenerOptions {
  readonly meter?: RequestMeter
  /** Other origins whose pages may use the service. If omitted, preflights are not answered. */
  readonly allowedOrigins?: readonly string[]
  /** A more specific error for a path that the router cannot decode. */
  readonly pathFault?: (url: string | undefined) => AppError | undefined
  /** How long a whole request may take; unlimited by default, since `idleTimeoutMs` limits bodies. */
  readonly requestTimeoutMs?: number
}

/** Creates a listener: problem documents, one request at a time per connection, one log line per request, no routes. */
export async function createListener(
  context: ListenerContext,
  { meter, allowedOrigins, pathFault, requestTimeoutMs = 0 }: ListenerOptions = {},
): Promise<FastifyInstance> {
  const { logger, connections, signals, traces, timeouts = {} } = context
  const trusts = trustOf(context.trustedProxies)
  const { readerTimeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS } = timeouts
  const { shutdown } = signals
  const describe = describeAnswers({ connections, meter, shutdown }, allowedOrigins)
  const app = fastify({
    ...serverOptions(context, { trusts, requestTimeout: requestTimeoutMs }),
    clientErrorHandler: connections.refuse,
    // These requests meet no hook.
    frameworkErrors: (error, request, reply) => {
      const fault = pathFault?.(request.raw.url) ?? error
      const isBegun = connections.begin(reply.raw, () => {
        limitReader(reply, readerTimeoutMs)
        if (traces !== undefined) beginTrace(traces, request, reply)
        if (!hasKnownCoding(request.headers)) void reply.header('connection', 'close')
        describe(request, reply, () => void sendProblem(fault, request, reply))
      })
      if (!isBegun) reply.hijack()
    },
  })
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler(() => {
    throw pathNotFound()
  })
  app.server.maxHeadersCount = MAX_HEADERS
  connections.watch(app.server, { logger, meter })
  leaveContinueToHandlers(app)
  shareReads(app, connections)
  decorateOutcome(app)
  decoratePeer(app, trusts)
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
  refuseUnfit(app, allowedOrigins)
  limitAnswers(app, context)
  decorateListener(app, { signals, idleTimeoutMs })
  return app
}

/** What every route uses of its listener, and its reading of JSON and of integers. */
export function decorateListener(
  app: FastifyInstance,
  { signals, idleTimeoutMs }: Pick<FastifyInstance, 'signals' | 'idleTimeoutMs'>,
): void {
  app.decorate('signals', signals)
  app.decorate('idleTimeoutMs', idleTimeoutMs)
  takeJson(app)
  readIntegers(app)
}

/** Returns the hook that runs before anything can refuse a request. */
function describeAnswers(
  options: OutcomeOptions,
  allowedOrigins: readonly string[] | undefined,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const allowed = new Set(allowedOrigins)
  return (request, reply, done) => {
    reply.raw.setMaxListeners(MOST_LISTENERS)
    followToEnd(request, reply, options)
    void reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id })
    if (allowed.size > 0) shareAnswer(reply, allowed)
    done()
  }
}

function refuseUnfit(app: FastifyInstance, allowedOrigins: readonly string[] | undefined): void {
  const allowed = allowedOrigins && new Set(allowedOrigins)
  app.addHook('onRequest', (request, reply, done) => {
    holdBody(reply)
    assertUnambiguous(request.raw)
    const isPreflight = request.method === 'OPTIONS' && allowed !== undefined
    if (!isPreflight || !answerPreflight(reply, allowed)) done()
  })
}

/** Limits answers that are not read. Closes the connection if the service is stopping or the body is unread. */
function limitAnswers(
  app: FastifyInstance,
  { signals: { stopping }, timeouts = {} }: ListenerContext,
): void {
  const { lingerMs: maxMs = 2_000, readerTimeoutMs } = timeouts
  const limit = limitUnreadAnswers(readerTimeoutMs)
  app.addHook('onSend', async (request, reply, answer) => {
    // An idle connection would keep the process alive until its client closes it.
    if (stopping.aborted) void reply.header('connection', 'close')
    const payload = limit(reply, answer)
    return isUnread(request.raw) ? lingerOver({ reply, payload, maxMs }) : payload
  })
}

const HEAD_TIMEOUT_MS = 20_000

export const IDLE_TIMEOUT_MS = 60_000

/** A browser sends fewer than 30. Thousands of tiny ones would take 200 KB for as long as their request waits. */
const MAX_HEADERS = 200

/** How every server reads requests. */
export const REQUEST_RULES = {
  // Input is never coerced. `verbose` gives `problem.ts` the schema at fault.
  ajv: {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      discriminator: true,
      useDefaults: false,
      verbose: true,
    },
  },
  // Our own parser limits names, in bytes; the size of the head limits the rest.
  routerOptions: { maxParamLength: 64 * 1024, querystringParser: (text) => parseQuery(text) },
} as const satisfies FastifyServerOptions

/** A download has ten or more listeners for its end, at which Node warns of a leak. */
const MOST_LISTENERS = 20

function serverOptions(
  { logger, trustedProxies, timeouts = {} }: ListenerContext,
  { trusts, requestTimeout }: { readonly trusts: TrustsProxy; readonly requestTimeout: number },
): FastifyHttpOptions<Server> {
  const { headTimeoutMs = HEAD_TIMEOUT_MS } = timeouts
  return {
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    // `request-outcome.ts` logs one line per request, without its path.
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: requestIds(trusts),
    trustProxy: trustedProxies.length > 0 ? trusts : false,
    exposeHeadRoutes: false,
    ...REQUEST_RULES,
    // While the server drains, requests are served with `Connection: close`.
    return503OnClosing: false,
    requestTimeout,
    connectionTimeout: 180_000,
    keepAliveTimeout: 72_000,
    http: {
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: headTimeoutMs / 4,
      // `request-head.ts` refuses it, with a problem document.
      requireHostHeader: false,
    },
  }
}
