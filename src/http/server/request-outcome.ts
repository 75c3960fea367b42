import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError, ErrorCode, Dependency } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code that the request was refused with. */
    problem: ErrorCode | null
    /** Why it was refused, for the log alone, where the code does not say. */
    reason: string | null
    /** Who broke it off, as far as that is known before it is over. */
    brokenBy: AbortedBy | null
  }
}

/**
 * Who kept a request from coming, or its answer from going, to its end: the client by leaving, or by its slowness
 * (`timeout`), the end of the process, a part that failed, or this service for want of something else.
 */
export type AbortedBy = 'client' | 'timeout' | 'shutdown' | Dependency | 'service'

/** How a request ended, for those who tell of it. */
export interface RequestEnd {
  /** What was sent, or 499 when nothing was, or the client was gone before its end. */
  readonly status: number
  readonly ms: number
  readonly code: ErrorCode | null
  readonly abortedBy: AbortedBy | null
  /** What its connection carried for it, heads and framing included. Of an answer what the kernel has taken, of one that was broken off up to 512 KiB more. */
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Not a status that is ever sent; the usual mark in logs for a client that closed first. */
const CLIENT_CLOSED_REQUEST = 499

/** What else is known of a request's connection and of its service. */
export interface Surroundings {
  readonly isTimedOut: boolean
  readonly isShutDown: boolean
}

/** What `RequestEnd` has beside its bytes. To be asked when the answer's stream has closed. */
export function endOf(
  request: FastifyRequest,
  { raw, elapsedTime }: FastifyReply,
  surroundings: Surroundings,
): Omit<RequestEnd, 'bytesIn' | 'bytesOut'> {
  const isAnswered = raw.writableFinished
  const brokenBy = isAnswered ? request.brokenBy : (request.brokenBy ?? closerOf(surroundings))
  // When the grace period is over, all that is left is ended, and not for want of anything else.
  const isEnded = surroundings.isShutDown && (brokenBy === 'service' || !isAnswered)
  const abortedBy = isEnded ? 'shutdown' : brokenBy
  return {
    status: statusOf(raw, abortedBy),
    ms: Math.round(elapsedTime),
    code: request.problem,
    abortedBy,
  }
}

/** The status of an answer that is over, as `RequestEnd` has it. */
export function statusOf(raw: FastifyReply['raw'], abortedBy: AbortedBy | null): number {
  const isSent = raw.writableFinished || (raw.headersSent && abortedBy !== 'client')
  return isSent ? raw.statusCode : CLIENT_CLOSED_REQUEST
}

/** Who closed a connection before its answer was sent. */
function closerOf({ isTimedOut }: Surroundings): AbortedBy {
  return isTimedOut ? 'timeout' : 'client'
}

/** Who broke off a request that ends with this error, or `null` when it was refused, or our defect. */
export function abortedBy({ code, part }: AppError): AbortedBy | null {
  if (code === 'truncated_body') return 'client'
  if (code === 'request_timeout') return 'timeout'
  return code === 'unavailable' ? (part ?? 'service') : null
}
