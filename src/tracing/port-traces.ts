import { SpanKind } from '@opentelemetry/api'
import type { Spans } from './spans.ts'

export interface TracedPlaces {
  readonly system: 'postgresql' | 'sqlite'
  readonly bucket: string | undefined
}

type Call = (...args: never[]) => Promise<unknown>

type Trace = (method: string, call: Call) => Call

export type PortTraces = ReturnType<typeof createPortTraces>

export function createPortTraces(spans: Spans, { system, bucket }: TracedPlaces) {
  const traceDatabase =
    (port: string): Trace =>
    (method, call) => {
      const name = `${port}.${method}`
      const attributes = { 'db.system.name': system, 'db.operation.name': name }
      const start = { name, kind: SpanKind.CLIENT, attributes }
      return (...args) => spans.follow(start, () => call(...args))
    }
  const traceObjects: Trace =
    (method, call) =>
    (...args) => {
      const start = objectSpan(method, { bucket, key: memberOf(args[0], 'key') })
      return spans.follow(start, async (span) => {
        const result = await call(...args)
        const size = MAKES_OBJECT.has(method) ? memberOf(result, 'size') : undefined
        if (typeof size === 'number') span?.setAttribute('cloud_repository.object.size', size)
        return result
      })
    }
  return {
    /** A transaction's span includes its retries. */
    ledger: traceDatabase('ledger'),
    users: traceDatabase('user_store'),
    /** The span of `open` ends when the content starts; the transfer belongs to the request. */
    objects: traceObjects,
  }
}

const MAKES_OBJECT: ReadonlySet<string> = new Set(['put', 'finish'])

function objectSpan(
  method: string,
  { bucket, key }: { readonly bucket: string | undefined; readonly key: unknown },
) {
  return {
    name: `object_store.${method}`,
    kind: bucket === undefined ? SpanKind.INTERNAL : SpanKind.CLIENT,
    attributes:
      bucket === undefined
        ? { 'cloud_repository.object.key': String(key) }
        : { 'aws.s3.bucket': bucket, 'aws.s3.key': String(key) },
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
