import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createByteMeter, type ByteMeter } from './byte-meter.ts'
import { AppError, isAppError } from '../errors.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore, PutObject } from '../objects/object-store.ts'

/** A file on its way in, as any kind of request delivers it. */
export interface IncomingFile {
  /** The file's bytes. It fails when the request breaks off, stalls or is malformed. */
  readonly content: Readable
  readonly size: {
    /** The smallest size that the file can have, in bytes. */
    readonly min: number
    /** The size if nothing follows the file, in bytes; `undefined` when the request does not say. */
    readonly announced: number | undefined
    /** The largest size that the file can have; absent when the request does not say. */
    readonly max?: number
  }
  /** Guarantees, once it resolves after the content's end, that the whole request was well-formed. */
  end(): Promise<void>
}

export interface StoreContentOptions {
  readonly objects: ObjectStore
  readonly key: ObjectKey
  readonly metadata: Readonly<Record<string, string>>
  readonly incoming: IncomingFile
  readonly maxBytes: number
  readonly memory: NonNullable<PutObject['memory']>
  readonly onBytes: (total: number) => Promise<void> | undefined
  readonly onUntouched?: () => void
  readonly signal: AbortSignal
}

export interface StoredContent {
  readonly size: number
  readonly sha256: string
}

/**
 * Guarantees that the object store holds the whole content under `key`, with as many bytes as came, and that the
 * request ended well. Settles only when nothing is under way any more. Rejects with what failed first: the request,
 * a limit, the signal's reason, or the store.
 */
export async function storeContent(options: StoreContentOptions): Promise<StoredContent> {
  const { incoming } = options
  const meter = createByteMeter(options)
  const stored = await stream(options, meter)
  if (stored.size !== meter.bytes()) {
    throw new AppError('unavailable', 'The object store holds another size than was sent.', {
      cause: new Error(`sent ${meter.bytes()} bytes, stored ${stored.size}`),
      part: 'object_store',
    })
  }
  await incoming.end()
  return { size: meter.bytes(), sha256: meter.sha256() }
}

async function stream(options: StoreContentOptions, meter: ByteMeter): Promise<{ size: number }> {
  const { objects, key, metadata, incoming, memory, onUntouched, signal } = options
  const expectedSize = incoming.size.announced
  const [flow, put] = await Promise.allSettled([
    pipeline(incoming.content, meter.stream, { signal }),
    objects.put({
      key,
      body: meter.stream,
      metadata,
      memory,
      onUntouched,
      signal,
      ...(expectedSize === undefined ? {} : { expectedSize }),
    }),
  ])
  if (put.status === 'fulfilled' && flow.status === 'fulfilled') return put.value
  throw causeOf({ flow, put, signal })
}

/** Tells the failure from those that it brought about: each side ends the other. */
function causeOf(ended: {
  flow: PromiseSettledResult<unknown>
  put: PromiseSettledResult<unknown>
  signal: AbortSignal
}): unknown {
  const { flow, put, signal } = ended
  if (flow.status === 'rejected' && isAppError(flow.reason)) return flow.reason
  if (signal.aborted) return signal.reason
  if (put.status === 'rejected') return put.reason
  return flow.status === 'rejected' ? flow.reason : undefined
}
