import type { Socket } from 'node:net'
import type { ErrorCode } from '../core/error-codes.ts'
import type { Instruments } from './instruments.ts'

interface BegunRequest {
  readonly method: string
  /** The template of its path; `undefined` if no route matches. */
  readonly route: string | undefined
  readonly socket: Socket
}

interface EndedRequest {
  readonly status: number
  readonly code: ErrorCode | null
  readonly seconds: number
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

interface Running {
  readonly labels: Readonly<Record<'listener' | 'method' | 'route', string>>
  readonly socket: Socket
}

export function createRequestMetrics(instruments: Instruments) {
  const { requests, requestSeconds, refusals, receivedBytes, sentBytes, runningRequests } =
    instruments
  const under = new Set<Running>()
  const counted = new WeakMap<Socket, { read: number; written: number }>()

  /** Requests of a connection are sequential, so the bytes since the last count belong to this one. */
  function countBytes({ labels, socket }: Running): void {
    const before = counted.get(socket) ?? { read: 0, written: 0 }
    const read = socket.bytesRead
    // `bytesWritten` drops when a connection is destroyed with unsent bytes; counters can't.
    const written = Math.max(before.written, socket.bytesWritten)
    counted.set(socket, { read, written })
    receivedBytes.inc(labels, read - before.read)
    sentBytes.inc(labels, written - before.written)
  }

  /** Counts the requests of one listener, at a cost independent of their size. */
  function meter(listener: 'public' | 'admin' | 'metrics') {
    return {
      begin({ method, route = 'none', socket }: BegunRequest) {
        const labels = { listener, method: METHODS.has(method) ? method : 'other', route }
        const running = { labels, socket }
        under.add(running)
        return ({ status, code, seconds }: EndedRequest): void => {
          under.delete(running)
          countBytes(running)
          requests.inc({ listener, method: labels.method, route, status })
          requestSeconds.observe(labels, seconds)
          if (code !== null) refusals.inc({ code })
        }
      },
      refuse({ status, code }: Omit<EndedRequest, 'seconds'>): void {
        requests.inc({ listener, method: 'other', route: 'none', status })
        if (code !== null) refusals.inc({ code })
      },
    }
  }

  function settle(): void {
    runningRequests.reset()
    for (const running of under) {
      countBytes(running)
      runningRequests.inc(running.labels)
    }
  }

  return { meter, settle }
}
