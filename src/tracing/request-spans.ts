import type { IncomingHttpHeaders } from 'node:http'
import {
  type Attributes,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { Spans } from './spans.ts'

export interface RequestHead {
  readonly id: string
  readonly method: string
  /** The pattern that its path matches; never the path, which may name a file. */
  readonly route: string | undefined
  readonly scheme: string
  readonly httpVersion: string
  readonly headers: IncomingHttpHeaders
}

export interface RequestOutcome {
  readonly status: number
  readonly code: string | null
  readonly abortedBy: string | null
  readonly bytesIn: number
  readonly bytesOut: number
  readonly userId: string | null
}

export interface RequestSpan {
  /** 32 hexadecimal digits, as in `traceparent`. */
  readonly traceId: string
  /** Runs `work` as what the request sets off. */
  within(work: () => void): void
  end(outcome: RequestOutcome): void
}

/** Begins the span of a request, in the trace that its `traceparent` names. */
export type BeginRequest = (request: RequestHead) => RequestSpan

export function requestSpans(spans: Spans): BeginRequest {
  const propagator = new W3CTraceContextPropagator()
  return (request) => {
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
    const method = METHODS.has(request.method) ? request.method : 'HTTP'
    const name = request.route === undefined ? method : `${method} ${request.route}`
    const start = { name, kind: SpanKind.SERVER, attributes: attributesOf(request) }
    const span = spans.begin(start, parent)
    return {
      traceId: span.spanContext().traceId,
      within: (work) => spans.within(span, work),
      end: (outcome) => endSpan(span, outcome),
    }
  }
}

/** Those that the semantic conventions know; another one could be anything. */
const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '))

function attributesOf({ id, method, route, scheme, httpVersion }: RequestHead): Attributes {
  return {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    ...(route !== undefined && { 'http.route': route }),
    'url.scheme': scheme,
    'network.protocol.version': httpVersion,
    'http.response.header.x-request-id': [id],
  }
}

function endSpan(span: Span, outcome: RequestOutcome): void {
  const { status, code, abortedBy, bytesIn, bytesOut, userId } = outcome
  span.setAttributes({
    'http.response.status_code': status,
    'http.request.size': bytesIn,
    'http.response.size': bytesOut,
    ...(userId !== null && { 'user.id': userId }),
    ...(code !== null && { 'cloud_repository.code': code }),
    ...(abortedBy !== null && { 'cloud_repository.aborted_by': abortedBy }),
  })
  // What the client did wrong is no error of the server's span, unless the answer did not get to its end.
  if (status >= 500 || (abortedBy !== null && status < 400)) {
    span.setAttribute('error.type', code ?? 'aborted').setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
