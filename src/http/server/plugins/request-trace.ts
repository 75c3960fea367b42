import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { RequestEnd } from '../request-outcome.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that is traced, to be ended with it; `undefined` where none is. */
    trace: RequestTrace | null | undefined
  }
}

export interface TracedRequest {
  readonly id: string
  readonly method: string
  readonly route: string | undefined
  readonly scheme: string
  readonly httpVersion: string
  readonly headers: IncomingHttpHeaders
}

export interface RequestTrace {
  readonly traceId: string
  /** Runs `work`, so that what comes of it is known to be of the request. */
  within(work: () => void): void
  end(end: RequestEnd & { readonly userId: string | null }): void
}

/** What follows requests through the service; `tracing/` does. */
export interface RequestTraces {
  begin(request: TracedRequest): RequestTrace
}

export interface RequestTracing {
  /** To be told of a request that meets no hook, because the router refuses it. */
  readonly onRefused: (request: FastifyRequest, reply: FastifyReply) => void
  /** To be registered before what asks anything of database or object store. */
  readonly plugin: FastifyPluginAsync
}

/** Has every request but those of probes followed, and its trace named in what it logs. */
export function traceRequests(traces: RequestTraces): RequestTracing {
  function begin(request: FastifyRequest, reply: FastifyReply): RequestTrace {
    const { id, method, headers, protocol: scheme, raw } = request
    const route = request.routeOptions.url
    const head = { id, method, route, scheme, httpVersion: raw.httpVersion, headers }
    const trace = traces.begin(head)
    request.trace = trace
    request.log = request.log.child({ trace_id: trace.traceId })
    reply.log = request.log
    return trace
  }
  return {
    onRefused: (request, reply) => void begin(request, reply),
    plugin: fp(
      async (app) => {
        app.decorateRequest('trace', null)
        app.addHook('onRequest', (request, reply, done) => {
          if (request.routeOptions.config.isProbe === true) return done()
          begin(request, reply).within(() => {
            followBody(request.raw)
            done()
          })
        })
      },
      { name: 'request-trace', fastify: '5.x', dependencies: ['request-log'], decorators: {} },
    ),
  }
}

/** Its bytes come by way of the connection, but what comes of them is of the request. */
function followBody(raw: IncomingMessage): void {
  const run = AsyncLocalStorage.snapshot()
  const emit = raw.emit.bind(raw)
  raw.emit = (event: string | symbol, ...args: unknown[]) => run(() => emit(event, ...args))
}
