import { SpanKind } from '@opentelemetry/api'
import type { Ledger } from '../core/ledger/ledger.ts'
import type { ObjectKey } from '../core/objects/object-key.ts'
import type { ObjectStore } from '../core/objects/object-store.ts'
import type { UserStore } from '../core/users/user-store.ts'
import type { Spans } from './spans.ts'

/** Of the database, in the words of the semantic conventions. */
export type DatabaseSystem = 'postgresql' | 'sqlite'

/** The bucket of an S3 server, or `undefined` for files. */
export interface ObjectPlace {
  readonly bucket: string | undefined
}

type Methods = Record<string, (...args: never[]) => Promise<unknown>>

/** The same port, each of whose calls is a span: of a transaction from its first try to its last. */
export function traceDatabase<P extends Ledger | UserStore>(
  port: P,
  { spans, name, system }: { spans: Spans; name: string; system: DatabaseSystem },
): P {
  const methods: Methods = { ...port }
  const traced = Object.entries(methods).map(([method, call]) => {
    const operation = `${name}.${method}`
    const attributes = { 'db.system.name': system, 'db.operation.name': operation }
    const start = { name: operation, kind: SpanKind.CLIENT, attributes }
    return [method, (...args: never[]) => spans.follow(start, () => call(...args))]
  })
  return Object.fromEntries(traced) as P
}

/**
 * The same store, whose calls that a request makes are spans. That of `open` ends when the content begins to come; what
 * its transfer takes belongs to the request.
 */
export function traceObjects(
  store: ObjectStore,
  { spans, bucket }: ObjectPlace & { readonly spans: Spans },
): ObjectStore {
  const startOf = (method: string, key: ObjectKey) => ({
    name: `object_store.${method}`,
    kind: bucket === undefined ? SpanKind.INTERNAL : SpanKind.CLIENT,
    attributes:
      bucket === undefined
        ? { 'cloud_repository.object.key': key }
        : { 'aws.s3.bucket': bucket, 'aws.s3.key': key },
  })
  return {
    put: (object) =>
      spans.follow(startOf('put', object.key), async (span) => {
        const stored = await store.put(object)
        span?.setAttribute('cloud_repository.object.size', stored.size)
        return stored
      }),
    open: (object) => spans.follow(startOf('open', object.key), () => store.open(object)),
    head: (object) => spans.follow(startOf('head', object.key), () => store.head(object)),
    remove: (object) => spans.follow(startOf('remove', object.key), () => store.remove(object)),
    list: (options) => store.list(options),
    prepare: (signal) => store.prepare(signal),
    check: (signal) => store.check(signal),
    close: () => store.close(),
  }
}
