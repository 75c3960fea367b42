import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { addressOf } from '../request-address.ts'
import { endOf, type RequestEnd } from '../request-outcome.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is for probes, whose requests are of little interest. */
    isProbe?: boolean
  }
}

export interface RequestLog {
  /** To be told of a request that meets no hook, because the router refuses it. */
  readonly onRefused: (request: FastifyRequest, reply: FastifyReply) => void
  /** To be registered before what can refuse a request. */
  readonly plugin: FastifyPluginAsync
}

/**
 * One line a request, when it is over; its trace ends with it. It names the route and not the path, since file names are the users' own
 * business; and the line of a request whose client went away says so with status 499. `shutdown` aborts when the grace
 * period of the service is over.
 */
export function createRequestLog(shutdown: AbortSignal | undefined): RequestLog {
  const takeBytes = countBytes()
  const timedOut = new WeakSet<Duplex>()

  function logWhenOver(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw
    reply.raw.once('close', () => {
      const isShutDown = shutdown?.aborted === true
      const end = endOf(request, reply, { isTimedOut: timedOut.has(socket), isShutDown })
      const whole = { ...end, ...takeBytes(socket) }
      const line = lineOf(request, whole)
      request.trace?.end({ ...whole, userId: line.user_id })
      // Probes come every few seconds.
      if (request.routeOptions.config.isProbe === true) request.log.debug(line, 'request')
      else request.log.info(line, 'request')
    })
  }

  return {
    onRefused: logWhenOver,
    plugin: fp(
      async (app) => {
        app.decorateRequest('problem', null)
        app.decorateRequest('reason', null)
        app.decorateRequest('brokenBy', null)
        app.server.on('connection', (socket: Socket) => {
          socket.once('timeout', () => timedOut.add(socket))
        })
        app.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
          if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') timedOut.add(socket)
        })
        app.addHook('onRequest', (request, reply, done) => {
          void reply.header('x-request-id', request.id)
          logWhenOver(request, reply)
          done()
        })
      },
      { name: 'request-log', fastify: '5.x', dependencies: ['connections'], decorators: {} },
    ),
  }
}

type Bytes = Pick<RequestEnd, 'bytesIn' | 'bytesOut'>

/** Takes what a connection has carried since it was last asked: its requests come one at a time. */
function countBytes(): (socket: Socket) => Bytes {
  const taken = new WeakMap<Socket, Bytes>()
  return (socket) => {
    const before = taken.get(socket) ?? { bytesIn: 0, bytesOut: 0 }
    // What waits in this process has not been sent; a write that was broken off counts as sent.
    const sent = Math.max(before.bytesOut, socket.bytesWritten - socket.writableLength)
    const now = { bytesIn: socket.bytesRead, bytesOut: sent }
    taken.set(socket, now)
    return { bytesIn: now.bytesIn - before.bytesIn, bytesOut: now.bytesOut - before.bytesOut }
  }
}

function lineOf(request: FastifyRequest, end: RequestEnd) {
  const { status, ms, code, abortedBy, bytesIn, bytesOut } = end
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    status,
    ms,
    code,
    ...(request.reason !== null && { reason: request.reason }),
    aborted_by: abortedBy,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    user_id: request.user?.userId ?? null,
    address: addressOf(request),
  }
}
