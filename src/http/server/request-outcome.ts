import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode } from '../../core/errors.ts'
import type { CarriedBytes, Connections } from './connections.ts'
import type { AbortedBy } from './problem.ts'
import { addressOf } from './request-head.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that is traced, to be ended with it. */
    trace: RequestTrace | null
  }
  interface FastifyContextConfig {
    /** Whether the route is for probes, whose requests are of little interest. */
    isProbe?: boolean
  }
}

/**
 * How a request ended, for those who tell of it, with what its connection carried for it: of an answer what the kernel
 * has taken, of one that was broken off up to 512 KiB more.
 */
export interface RequestEnd extends CarriedBytes {
  /** What was sent, or 499 when nothing was, or the client was gone before its end. */
  readonly status: number
  readonly ms: number
  readonly code: ErrorCode | null
  readonly abortedBy: AbortedBy | null
}

/** What a listener tells its requests to, for counting. */
export interface RequestMeter {
  /** A request has begun; when it is over, what this returns is told how it ended. */
  begin(request: {
    readonly method: string
    /** The template of its path; `undefined` when no route was found. */
    readonly route: string | undefined
    readonly socket: Socket
  }): (end: Pick<RequestEnd, 'status' | 'code'> & { readonly seconds: number }) => void
  /** The HTTP parser has refused something, of which no more is known. */
  refuse(refusal: Pick<RequestEnd, 'status' | 'code'>): void
}

export interface RequestTrace {
  readonly traceId: string
  /** Runs `work`, so that what comes of it is known to be of the request. */
  within(work: () => void): void
  end(end: RequestEnd & { readonly userId: string | null }): void
}

/** What follows requests through the service; `tracing/` does. */
export interface RequestTraces {
  begin(
    request: Pick<FastifyRequest, 'id' | 'method' | 'headers'> & {
      readonly route: string | undefined
      readonly scheme: string
      readonly httpVersion: string
    },
  ): RequestTrace
}

/** Has a request followed, and its trace named in what it logs. */
export function beginTrace(
  traces: RequestTraces,
  request: FastifyRequest,
  reply: FastifyReply,
): RequestTrace {
  const { id, method, headers, protocol: scheme, raw, routeOptions } = request
  const { httpVersion } = raw
  const trace = traces.begin({ id, method, headers, route: routeOptions.url, scheme, httpVersion })
  request.trace = trace
  request.log = request.log.child({ trace_id: trace.traceId })
  reply.log = request.log
  return trace
}

export interface OutcomeOptions {
  readonly connections: Pick<Connections, 'takeBytes' | 'isTimedOut'>
  /** Counts the requests; none when left out. */
  readonly meter?: RequestMeter
  /** Aborts when requests are no longer waited for; never when left out. */
  readonly shutdown?: AbortSignal
}

/** Lets a request carry how it ends. */
export function decorateOutcome(app: FastifyInstance): void {
  for (const name of ['problem', 'reason', 'brokenBy', 'trace']) app.decorateRequest(name, null)
}

/**
 * Tells how a request ended, when it is over, to the meter, its trace, and the log: in one line, which names the route
 * and not the path, since file names are the users' own business.
 */
export function followToEnd(
  request: FastifyRequest,
  reply: FastifyReply,
  { connections, meter, shutdown }: OutcomeOptions,
): void {
  const { method, routeOptions, raw } = request
  const { socket } = raw
  const route = routeOptions.url
  const count = meter?.begin({ method, route, socket })
  reply.raw.once('close', () => {
    const isShutDown = shutdown?.aborted === true
    const isTimedOut = !reply.raw.writableFinished && connections.isTimedOut(socket)
    const { status, abortedBy } = outcomeOf(request, reply, { isShutDown, isTimedOut })
    const { problem: code, reason, user } = request
    count?.({ status, code, seconds: reply.elapsedTime / 1000 })
    const ms = Math.round(reply.elapsedTime)
    const { bytesIn, bytesOut } = connections.takeBytes(socket)
    const userId = user?.userId ?? null
    request.trace?.end({ status, ms, code, abortedBy, bytesIn, bytesOut, userId })
    const line = {
      method,
      route: route ?? null,
      status,
      ms,
      code,
      ...(reason !== null && { reason }),
      aborted_by: abortedBy,
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      user_id: userId,
      address: addressOf(request),
    }
    // Probes come every few seconds.
    request.log[routeOptions.config.isProbe === true ? 'debug' : 'info'](line, 'request')
  })
}

/** Not a status that is ever sent; the usual mark in logs for a client that closed first. */
const CLIENT_CLOSED_REQUEST = 499

function outcomeOf(
  { brokenBy }: FastifyRequest,
  { raw }: FastifyReply,
  { isShutDown, isTimedOut }: { readonly isShutDown: boolean; readonly isTimedOut: boolean },
): Pick<RequestEnd, 'status' | 'abortedBy'> {
  const isAnswered = raw.writableFinished
  const closedBy = isTimedOut ? 'timeout' : 'client'
  const breaker = isAnswered ? brokenBy : (brokenBy ?? closedBy)
  // When the grace period is over, all that is left is ended, and not for want of anything else.
  const isEnded = isShutDown && (breaker === 'service' || !isAnswered)
  const abortedBy = isEnded ? 'shutdown' : breaker
  const isSent = isAnswered || (raw.headersSent && abortedBy !== 'client')
  return { status: isSent ? raw.statusCode : CLIENT_CLOSED_REQUEST, abortedBy }
}

/**
 * Returns a signal that aborts when the client goes away before its answer was sent, or when `shutdown` does.
 * `request.signal` will not do for uploads: it aborts as soon as the body has been read to its end.
 */
export function requestSignal({ raw }: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const over = new AbortController()
  // `AbortSignal.any` would do it for several times the price.
  const end = (): void => over.abort(shutdown.reason)
  // It can have gone while its access token was being verified.
  if (raw.destroyed) over.abort(clientGone())
  if (shutdown.aborted) end()
  if (over.signal.aborted) return over.signal
  shutdown.addEventListener('abort', end)
  raw.once('close', () => {
    shutdown.removeEventListener('abort', end)
    if (!raw.writableFinished) over.abort(clientGone())
  })
  return over.signal
}

function clientGone(): AppError {
  return new AppError('truncated_body', 'The client closed the connection.')
}
