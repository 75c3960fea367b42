import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onAbort } from '../../core/async/on-abort.ts'
import { AppError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/error-codes.ts'
import type { CarriedBytes, Connections } from './connections.ts'
import type { AbortedBy } from './problem.ts'
import { addressOf, schemeOf } from './forwarded.ts'

declare module 'fastify' {
  interface FastifyRequest {
    trace: RequestTrace | null
    /** The refusal of an unread body was sent whole. The response stays open while the rest of the body is drained. */
    isRefusalSent: boolean
    /** The resumable upload in the path or just created, and its offset after the request if it is known. */
    upload: { readonly id: string; readonly offset: number | null } | null
    /** The link in the path, by its id. */
    link: { readonly id: string } | null
  }
  interface FastifyContextConfig {
    /** Probes are logged at `debug` and not traced. */
    isProbe?: boolean
  }
}

export interface RequestResult {
  /** The status sent; 499 if none was, or if the client left early. */
  readonly status: number
  readonly code: ErrorCode | null
}

/** `bytesOut` counts the bytes that the kernel has taken. After an aborted answer, it can be up to 512 KiB more. */
export interface RequestEnd extends CarriedBytes, RequestResult {
  readonly ms: number
  readonly abortedBy: AbortedBy | null
}

export interface RequestMeter {
  /** Called when a request begins. The returned function is called when the request is over. */
  begin(request: {
    readonly method: string
    /** The template of the path; `undefined` if no route matched. */
    readonly route: string | undefined
    readonly socket: Socket
  }): (end: RequestResult & { readonly seconds: number }) => void
  refuse(refusal: RequestResult): void
}

export interface RequestTrace {
  readonly traceId: string
  /** Runs `work` in the trace's async context. */
  within(work: () => void): void
  end(end: RequestEnd & { readonly userId: string | null; readonly linkId: string | null }): void
}

export interface RequestTraces {
  begin(request: {
    readonly id: string
    readonly method: string
    readonly headers: IncomingHttpHeaders
    readonly route: string | undefined
    readonly scheme: string
    readonly httpVersion: string
  }): RequestTrace
}

export function beginTrace(
  traces: RequestTraces,
  request: FastifyRequest,
  reply: FastifyReply,
): RequestTrace {
  const { id, method, headers, raw, routeOptions } = request
  const { httpVersion } = raw
  const scheme = schemeOf(request)
  const trace = traces.begin({ id, method, headers, route: routeOptions.url, scheme, httpVersion })
  request.trace = trace
  request.log = request.log.child({ trace_id: trace.traceId })
  reply.log = request.log
  return trace
}

export interface OutcomeOptions {
  readonly connections: Connections
  readonly meter: RequestMeter | undefined
  readonly shutdown: AbortSignal
}

export function decorateOutcome(app: FastifyInstance): void {
  for (const name of ['problem', 'hiddenFacts', 'reason', 'abortedBy', 'trace', 'upload', 'link'])
    app.decorateRequest(name, null)
  app.decorateRequest('isRefusalSent', false)
}

/** The log line names the route, never the path, since file names are private. */
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
    const isShutDown = shutdown.aborted
    const closedBy = connections.closedBy(socket)
    const { status, abortedBy } = outcomeOf(request, reply, { isShutDown, closedBy })
    const { problem: code, reason, subject, upload, link } = request
    count?.({ status, code, seconds: reply.elapsedTime / 1000 })
    const ms = Math.round(reply.elapsedTime)
    const { bytesIn, bytesOut } = connections.takeBytes(socket)
    const userId = subject?.kind === 'user' ? subject.userId : null
    const linkId = link?.id ?? null
    request.trace?.end({ status, ms, code, abortedBy, bytesIn, bytesOut, userId, linkId })
    const line = {
      method,
      route: route ?? null,
      status,
      ms,
      code,
      reason: reason ?? undefined,
      aborted_by: abortedBy,
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      user_id: userId,
      link_id: linkId ?? undefined,
      upload_id: upload?.id,
      upload_offset: upload?.offset,
      address: addressOf({ ip: request.ip, socket }),
    }
    request.log[routeOptions.config.isProbe === true ? 'debug' : 'info'](line, 'request finished')
  })
}

/** Never sent; the conventional log status for a client that left first. */
const CLIENT_CLOSED_REQUEST = 499

function outcomeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { isShutDown, closedBy }: { readonly isShutDown: boolean; readonly closedBy: AbortedBy },
): { readonly status: number; readonly abortedBy: AbortedBy | null } {
  const { raw } = reply
  const isWhole = isAnswered(request, reply)
  const cause = isWhole ? request.abortedBy : (request.abortedBy ?? closedBy)
  // After the grace period, the shutdown ended every unfinished request.
  const isEnded = isShutDown && (cause === 'service' || !isWhole)
  const abortedBy = isEnded ? 'shutdown' : cause
  const isSent = isWhole || (raw.headersSent && abortedBy !== 'client')
  return { status: isSent ? raw.statusCode : CLIENT_CLOSED_REQUEST, abortedBy }
}

/** Whether the whole response was sent. */
function isAnswered(request: FastifyRequest, { raw }: FastifyReply): boolean {
  return raw.writableFinished || request.isRefusalSent
}

/** Aborts when the client leaves early, or with the shutdown. `request.signal` aborts once the body has been read. */
export function requestSignal({ raw, server }: FastifyReply): AbortSignal {
  const { shutdown } = server.signals
  const over = new AbortController()
  // `AbortSignal.any` would cost several times as much.
  const end = (): void => over.abort(shutdown.reason)
  // The client may have disconnected while its token was verified.
  if (raw.destroyed) over.abort(clientGone())
  if (shutdown.aborted) end()
  if (over.signal.aborted) return over.signal
  const listening = onAbort(shutdown, end)
  raw.once('close', () => {
    listening[Symbol.dispose]()
    if (!raw.writableFinished) over.abort(clientGone())
  })
  return over.signal
}

function clientGone(): AppError {
  return new AppError('truncated_body', 'The client closed the connection.')
}

/** Ends the connection of a client that holds back its answer. */
export function breakOff({ raw, request }: FastifyReply, reason: string): void {
  request.reason = reason
  request.abortedBy = 'timeout'
  raw.destroy()
}
