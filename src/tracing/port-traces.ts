import { SpanKind } from '@opentelemetry/api'
import type { Spans } from './spans.ts'

/** What the ports stand on. */
export interface TracedPlaces {
  /** In the words of the semantic conventions. */
  readonly system: 'postgresql' | 'sqlite'
  /** The bucket of an S3 server, or `undefined` for files. */
  readonly bucket: string | undefined
}

type Call = (...args: never[]) => Promise<unknown>

/** Makes of a method of a port one that does the same as a span. */
type Trace = (method: string, call: Call) => Call

export interface PortTraces {
  /** The span of a transaction lasts from its first try to its last. */
  readonly ledger: Trace
  readonly users: Trace
  /** The span of `open` ends when the content begins to come; what its transfer takes belongs to the request. */
  readonly objects: Trace
}

export function createPortTraces(spans: Spans, { system, bucket }: TracedPlaces): PortTraces {
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
        const size = method === 'put' ? memberOf(result, 'size') : undefined
        if (typeof size === 'number') span?.setAttribute('cloud_repository.object.size', size)
        return result
      })
    }
  return {
    ledger: traceDatabase('ledger'),
    users: traceDatabase('user_store'),
    objects: traceObjects,
  }
}

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
