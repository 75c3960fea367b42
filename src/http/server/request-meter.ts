import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/errors.ts'
import { statusOf } from './request-outcome.ts'

/** What a listener tells its requests to, for counting. */
export interface RequestMeter {
  /** A request has begun; when it is over, what this returns is told how it ended. */
  begin(request: {
    readonly method: string
    /** The template of its path; `undefined` when no route was found. */
    readonly route: string | undefined
    readonly socket: Socket
  }): (end: RequestEnd) => void
  /** The HTTP parser has refused something, of which no more is known. */
  refuse(refusal: Pick<RequestEnd, 'status' | 'code'>): void
}

interface RequestEnd {
  /** 499 when the client went away first. */
  readonly status: number
  readonly code: ErrorCode | null
  readonly seconds: number
}

/** Tells the meter of a request, now and when it is over. */
export function meterUntilOver(
  meter: RequestMeter | undefined,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): void {
  if (meter === undefined) return
  const { method, raw, routeOptions } = request
  const end = meter.begin({ method, route: routeOptions.url, socket: raw.socket })
  reply.raw.once('close', () => {
    const seconds = reply.elapsedTime / 1000
    const status = statusOf(reply.raw, request.brokenBy ?? 'client')
    end({ status, code: request.problem, seconds })
  })
}
