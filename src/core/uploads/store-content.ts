import { createHash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, isAppError } from '../errors.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { BodyMemory, ObjectStore } from '../objects/object-store.ts'
import type { MemoryAllocation } from './memory/allocation.ts'

/** A file being uploaded, independent of the request format. */
export interface IncomingFile {
  /** Fails when the request breaks off, stalls or is malformed. */
  readonly content: Readable
  readonly size: {
    readonly min: number
    /** Size in bytes if nothing follows the file; `undefined` if the request does not announce it. */
    readonly announced: number | undefined
    readonly max?: number
  }
  /** Resolves after the content's end if the whole request is well-formed, and rejects otherwise. */
  end(): Promise<void>
}

export interface StoreContentOptions extends ByteMeterOptions {
  readonly objects: ObjectStore
  readonly key: ObjectKey
  readonly metadata: Readonly<Record<string, string>>
  readonly incoming: IncomingFile
  readonly memory: BodyMemory & Pick<MemoryAllocation, 'awaitClient'>
  readonly onUntouched?: () => void
  readonly signal: AbortSignal
}

export interface StoredContent {
  readonly size: number
  readonly sha256: string
}

/**
 * Guarantees that the object store holds the whole content under `key` and that the whole request was valid. Settles
 * when all work has ended. Rejects with the first failure, of the request, a limit, the signal or the store.
 */
export async function storeContent(options: StoreContentOptions): Promise<StoredContent> {
  const { objects, key, metadata, incoming, memory, onUntouched, signal } = options
  const expectedSize = incoming.size.announced
  const meter = createByteMeter(options)
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
  if (put.status === 'rejected' || flow.status === 'rejected') throw causeOf({ flow, put, signal })
  const { bytes: size, hash } = meter
  if (put.value.size !== size) {
    throw new AppError(
      'unavailable',
      'The object store stored fewer or more bytes than the service sent.',
      {
        cause: new Error(`sent ${size} bytes, stored ${put.value.size}`),
        part: 'object_store',
      },
    )
  }
  await memory.awaitClient(incoming.end())
  return { size, sha256: hash.digest('hex') }
}

/** The original failure: when the pipeline or the put fails, it ends the other. */
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

export interface ByteMeterOptions {
  /** Exceeding it fails the stream with `file_too_large`. */
  readonly maxBytes: number
  /** Awaited before more than the last reported bytes pass; its error fails the stream. */
  readonly onBytes: (total: number) => Promise<void> | undefined
}

/** Counts, hashes and limits a stream, and buffers nothing. */
export function createByteMeter({ maxBytes, onBytes }: ByteMeterOptions) {
  const hash = createHash('sha256')
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const total = meter.bytes + chunk.length
      if (total > maxBytes) {
        done(fileTooLarge(maxBytes))
        return
      }
      meter.bytes = total
      hash.update(chunk)
      const pending = onBytes(total)
      if (pending === undefined) done(null, chunk)
      else pending.then(() => done(null, chunk), done)
    },
  })
  const meter = { stream, hash, bytes: 0 }
  return meter
}

export function fileTooLarge(maxBytes: number): AppError {
  return new AppError('file_too_large', 'The file is larger than the maximum file size.', {
    facts: { max_file_size: maxBytes },
  })
}
