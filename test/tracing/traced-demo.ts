import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Demo, startDemo } from '../support/service/demo.ts'
import { type CollectedSpan, SERVER, type TraceCollector } from '../support/http/trace-collector.ts'

/** A process with a demo user that sends its spans to the collector at once. */
export function startTracedDemo(options: {
  readonly collector: TraceCollector
  readonly environment: Readonly<Record<string, string>>
  readonly opened: AsyncDisposableStack
}): Promise<Demo> {
  const { collector, environment, opened } = options
  return startDemo({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ...environment,
    },
    opened,
  })
}

/** The server's span of the last request by this method, and the names of those under it as they began. */
export async function traceOf(
  collector: TraceCollector,
  method: string,
): Promise<{ root: CollectedSpan; under: string[] }> {
  const isRoot = ({ kind, attributes }: CollectedSpan) =>
    kind === SERVER && attributes['http.request.method'] === method
  const find = () => collector.spans.findLast(isRoot)
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  const root = find()
  if (root === undefined) throw new Error('There is no such span')
  const under = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)
  const byStart = under.toSorted((a, b) => Number(startOf(a) - startOf(b)))
  return { root, under: byStart.map(({ name }) => name) }
}

function startOf({ startTimeUnixNano }: CollectedSpan): bigint {
  return BigInt(startTimeUnixNano)
}

/** Uploads 1.25 MiB without a length, so that its reservation grows as they come. */
export async function uploadInPieces(url: string, cookie: string): Promise<Response> {
  async function* pieces() {
    for (let at = 0; at < 20; at++) {
      yield Buffer.alloc(65_536)
      await delay(10)
    }
  }
  const body = pieces()
  const init = { method: 'PUT', headers: { cookie }, body, duplex: 'half' } as const
  return await fetch(url, init)
}
