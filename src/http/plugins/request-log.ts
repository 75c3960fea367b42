import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code that the request was refused with. */
    problem: ErrorCode | null
    /** Why it was refused, for the log alone, where the code does not say. */
    reason: string | null
  }
  interface FastifyContextConfig {
    /** Whether the route is for probes, whose requests are of little interest. */
    isProbe?: boolean
  }
}

/**
 * One line a request, when it is over. It names the route and not the path, since file names are the users' own
 * business; and the line of a request whose client went away says so with status 499.
 */
export const requestLogPlugin = fp(
  async (app) => {
    app.decorateRequest('problem', null)
    app.decorateRequest('reason', null)
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('x-request-id', request.id)
      logWhenOver(request, reply)
    })
  },
  { name: 'request-log', fastify: '5.x' },
)

/** For a request that meets no hook, because the router refuses it. */
export function logWhenOver(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('close', () => {
    const line = lineOf(request, {
      status: statusOfAnswer(reply),
      ms: Math.round(reply.elapsedTime),
    })
    // Probes come every few seconds.
    if (request.routeOptions.config.isProbe === true) request.log.debug(line, 'request')
    else request.log.info(line, 'request')
  })
}

/** The status of an answer that is over. */
export function statusOfAnswer({ raw }: FastifyReply): number {
  return raw.writableFinished ? raw.statusCode : CLIENT_CLOSED_REQUEST
}

/** Not a status that is ever sent; the usual mark in logs for a client that closed first. */
const CLIENT_CLOSED_REQUEST = 499

function lineOf(request: FastifyRequest, outcome: { status: number; ms: number }) {
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    ...outcome,
    code: request.problem,
    ...(request.reason !== null && { reason: request.reason }),
    user_id: request.user?.userId ?? null,
    address: request.ip,
  }
}
