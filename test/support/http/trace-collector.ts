import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** Kinds of spans, and the status of one that failed. */
export const SERVER = 2
export const CLIENT = 3
export const ERROR = 2

/** A span as it came, with its attributes as plain members. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
  readonly attributes: Readonly<Record<string, unknown>>
  /** Of the service that sent it. */
  readonly resource: Readonly<Record<string, unknown>>
}

export interface TraceCollector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Of each request that came, whatever became of it. */
  readonly requests: readonly { readonly url: string; readonly headers: IncomingHttpHeaders }[]
  /** All that came, as text. */
  text(): string
  stop(): Promise<void>
}

/** Takes spans by OTLP (JSON over HTTP), or refuses each batch, or never answers. */
export async function startTraceCollector(
  manner: 'takes' | 'refuses' | 'hangs' = 'takes',
): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const requests: { url: string; headers: IncomingHttpHeaders }[] = []
  const bodies: unknown[] = []
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as Batch
    bodies.push(body)
    spans.push(...spansOf(body))
    response.writeHead(manner === 'takes' ? 200 : 400, { 'content-type': 'application/json' })
    response.end('{}')
  }
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    if (manner === 'hangs') return
    void take(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    text: () => JSON.stringify(bodies),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Attributes = readonly {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}[]

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes'> & {
        readonly attributes: Attributes
      })[]
    }[]
  }[]
}

function spansOf({ resourceSpans }: Batch): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => {
        const attributes = plain(span.attributes)
        return { ...span, attributes, resource: plain(resource.attributes) }
      }),
    ),
  )
}

function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
