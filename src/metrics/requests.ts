import type { Socket } from 'node:net'
import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import { ERROR_CODES, type ErrorCode } from '../core/error-codes.ts'

export type ListenerName = 'public' | 'admin' | 'metrics'

export interface BegunRequest {
  readonly method: string
  /** The template of its path; `undefined` if no route matches. */
  readonly route: string | undefined
  readonly socket: Pick<Socket, 'bytesRead' | 'bytesWritten'>
}

export interface EndedRequest {
  readonly status: number
  readonly code: ErrorCode | null
  readonly seconds: number
}

/** Counts the requests of one listener, at a cost independent of their size. */
export interface RequestMeter {
  begin(request: BegunRequest): (end: EndedRequest) => void
  refuse(refusal: Pick<EndedRequest, 'status' | 'code'>): void
}

/** Labels are bounded: listed methods, route templates, and closed lists of statuses and codes. */
const ROUTE_LABELS = ['listener', 'method', 'route']
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

interface Running {
  readonly labels: Readonly<Record<'listener' | 'method' | 'route', string>>
  readonly socket: BegunRequest['socket']
}

export function createRequestMetrics(registry: Registry) {
  const counters = createCounters(registry)
  const under = new Set<Running>()
  const counted = new WeakMap<BegunRequest['socket'], { read: number; written: number }>()

  /** Requests of a connection are sequential, so the bytes since the last count belong to this one. */
  function countBytes({ labels, socket }: Running): void {
    const before = counted.get(socket) ?? { read: 0, written: 0 }
    const read = socket.bytesRead
    // `bytesWritten` drops when a connection is destroyed with unsent bytes; counters can't.
    const written = Math.max(before.written, socket.bytesWritten)
    counted.set(socket, { read, written })
    counters.received.inc(labels, read - before.read)
    counters.sent.inc(labels, written - before.written)
  }

  function meter(listener: ListenerName): RequestMeter {
    return {
      begin({ method, route = 'none', socket }) {
        const labels = { listener, method: METHODS.has(method) ? method : 'other', route }
        const running = { labels, socket }
        under.add(running)
        return ({ status, code, seconds }) => {
          under.delete(running)
          countBytes(running)
          counters.requests.inc({ ...labels, status })
          counters.seconds.observe(labels, seconds)
          if (code !== null) counters.refusals.inc({ code })
        }
      },
      refuse({ status, code }) {
        counters.requests.inc({ listener, method: 'other', route: 'none', status })
        if (code !== null) counters.refusals.inc({ code })
      },
    }
  }

  function settle(): void {
    counters.running.reset()
    for (const running of under) {
      countBytes(running)
      counters.running.inc(running.labels)
    }
  }

  return { meter, settle }
}

function createCounters(registry: Registry) {
  const registers = [registry]
  const byRoute = { labelNames: ROUTE_LABELS, registers }
  const refusals = new Counter({
    name: 'cloud_repository_refusals_total',
    help: 'Refused requests by the code of their problem document.',
    labelNames: ['code'],
    registers,
  })
  for (const code of ERROR_CODES) refusals.inc({ code }, 0)
  return {
    refusals,
    requests: new Counter({
      name: 'cloud_repository_requests_total',
      help: 'Finished requests; status 499: the client left before its response was complete.',
      labelNames: [...ROUTE_LABELS, 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'cloud_repository_request_seconds',
      help: 'Duration from the head of a request to the end of its response.',
      buckets: BUCKETS,
      ...byRoute,
    }),
    received: new Counter({
      name: 'cloud_repository_received_bytes_total',
      help: 'Bytes received on connections, including headers and requests in progress.',
      ...byRoute,
    }),
    sent: new Counter({
      name: 'cloud_repository_sent_bytes_total',
      help: 'Bytes sent on connections, including headers and requests in progress.',
      ...byRoute,
    }),
    running: new Gauge({
      name: 'cloud_repository_requests_running',
      help: 'Requests in progress on this instance.',
      ...byRoute,
    }),
  }
}
