import type { Socket } from 'node:net'
import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import { ERROR_CODES, type ErrorCode } from '../core/errors.ts'

export type ListenerName = 'public' | 'admin' | 'metrics'

/** A request as a listener knows it when its head has come. */
export interface BegunRequest {
  readonly method: string
  /** The template of its path; `undefined` when no route was found. */
  readonly route: string | undefined
  readonly socket: Pick<Socket, 'bytesRead' | 'bytesWritten'>
}

export interface EndedRequest {
  readonly status: number
  /** What it was refused with. */
  readonly code: ErrorCode | null
  readonly seconds: number
}

/** Counts the requests of one listener. Its cost does not depend on how many bytes a request has. */
export interface RequestMeter {
  /** Counts a request from now on, until what it returns is called. */
  begin(request: BegunRequest): (end: EndedRequest) => void
  /** Counts what the HTTP parser has refused, of which no more is known. */
  refuse(refusal: Pick<EndedRequest, 'status' | 'code'>): void
}

/** Labels: methods are those below, routes are templates, statuses and codes are closed lists. */
const ROUTE_LABELS = ['listener', 'method', 'route']
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** From a probe to an upload of some gigabytes. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** A request under way. */
interface Running {
  readonly labels: Readonly<Record<'listener' | 'method' | 'route', string>>
  readonly socket: BegunRequest['socket']
}

export function createRequestMetrics(registry: Registry) {
  const counters = createCounters(registry)
  const under = new Set<Running>()
  const counted = new WeakMap<BegunRequest['socket'], { read: number; written: number }>()

  /** Requests of a connection come one after the other, so what has moved on it since the last is this one's. */
  function countBytes({ labels, socket }: Running): void {
    const before = counted.get(socket) ?? { read: 0, written: 0 }
    const read = socket.bytesRead
    // A connection that is destroyed takes back what it had not sent yet; counters do not.
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

  /** Counts what has come and gone so far of the requests under way. */
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
    help: 'Requests that were refused, by the code of their problem document.',
    labelNames: ['code'],
    registers,
  })
  for (const code of ERROR_CODES) refusals.inc({ code }, 0)
  return {
    refusals,
    requests: new Counter({
      name: 'cloud_repository_requests_total',
      help: 'Requests that are over; status 499: the client went away before its answer.',
      labelNames: [...ROUTE_LABELS, 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'cloud_repository_request_seconds',
      help: 'From the head of a request to the end of its answer.',
      buckets: BUCKETS,
      ...byRoute,
    }),
    received: new Counter({
      name: 'cloud_repository_received_bytes_total',
      help: 'Bytes that came on connections, heads included, also of requests under way.',
      ...byRoute,
    }),
    sent: new Counter({
      name: 'cloud_repository_sent_bytes_total',
      help: 'Bytes that were sent on connections, heads included, also of requests under way.',
      ...byRoute,
    }),
    running: new Gauge({
      name: 'cloud_repository_requests_running',
      help: 'Requests under way on this instance.',
      ...byRoute,
    }),
  }
}
