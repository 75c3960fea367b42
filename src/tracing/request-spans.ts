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

interface RequestHead {
  readonly id: string
  readonly method: string
  /** The route's pattern; never the path, which may contain a file name. */
  readonly route: string | undefined
  readonly scheme: string
  readonly httpVersion: string
  readonly headers: IncomingHttpHeaders
}

interface RequestOutcome {
  readonly status: number
  readonly code: string | null
  readonly abortedBy: string | null
  readonly bytesIn: number
  readonly bytesOut: number
  readonly userId: string | null
  readonly linkId: string | null
}

export function requestSpans(spans: Spans) {
  const propagator = new W3CTraceContextPropagator()
  return (request: RequestHead) => {
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
    const method = METHODS.has(request.method) ? request.method : 'HTTP'
    const name = request.route === undefined ? method : `${method} ${request.route}`
    const start = { name, kind: SpanKind.SERVER, attributes: attributesOf(request) }
    const span = spans.begin(start, parent)
    return {
      traceId: span.spanContext().traceId,
      within: (work: () => void): void => spans.within(span, work),
      end: (outcome: RequestOutcome): void => endSpan(span, outcome),
    }
  }
}

/** Methods of the semantic conventions; others are unbounded. */
const METHODS = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '))

function attributesOf({ id, method, route, scheme, httpVersion }: RequestHead): Attributes {
  return {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    'http.route': route,
    'url.scheme': scheme,
    'network.protocol.version': httpVersion,
    'http.response.header.x-request-id': [id],
  }
}

function endSpan(span: Span, outcome: RequestOutcome): void {
  const { status, code, abortedBy, bytesIn, bytesOut, userId, linkId } = outcome
  span.setAttributes({
    'http.response.status_code': status,
    'http.request.size': bytesIn,
    'http.response.size': bytesOut,
    'user.id': userId ?? undefined,
    'cloud_repository.link_id': linkId ?? undefined,
    'cloud_repository.code': code ?? undefined,
    'cloud_repository.aborted_by': abortedBy ?? undefined,
  })
  // A client error is no error of the server's span; an aborted response is.
  if (status >= 500 || (abortedBy !== null && status < 400)) {
    span.setAttribute('error.type', code ?? 'aborted').setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
