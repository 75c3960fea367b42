import { createHash, hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { settledUnlessAborted } from '../async/deadline.ts'
import { AppError, isAppError } from '../errors.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import { detachBuffer, type ObjectStore } from '../objects/object-store.ts'
import { type BodyMemory, FIRST_BYTES } from '../memory/body-memory.ts'
import type { MemoryAllocation } from '../memory/allocation.ts'
import { type ByteMeterOptions, createByteMeter, fileTooLarge } from './byte-meter.ts'

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

export interface StoreContentOptions extends Pick<ByteMeterOptions, 'maxBytes' | 'onBytes'> {
  readonly objects: ObjectStore
  readonly key: ObjectKey
  readonly metadata: Readonly<Record<string, string>>
  readonly incoming: IncomingFile
  readonly memory: BodyMemory & Pick<MemoryAllocation, 'watch'>
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
  const { max = Infinity } = options.incoming.size
  return max <= FIRST_BYTES ? await storeSmall(options) : await storeStream(options)
}

/** The store gets nothing before the end of the request, so a request that breaks off leaves nothing. */
async function storeSmall(options: StoreContentOptions): Promise<StoredContent> {
  const { objects, key, metadata, incoming, onUntouched, signal } = options
  const body = await gather(options).catch((error: unknown) => {
    onUntouched?.()
    incoming.content.destroy()
    throw signal.aborted && !isAppError(error) ? signal.reason : error
  })
  const sha256 = hash('sha256', body)
  const putting = objects.put({
    key,
    body,
    sha256: () => sha256,
    metadata,
    onUntouched,
    signal,
  })
  const put = await putting.catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error
  })
  const size = body.byteLength
  assertSize({ sent: size, stored: put.size })
  return { size, sha256 }
}

async function gather(options: StoreContentOptions): Promise<Uint8Array> {
  const { incoming, memory, maxBytes, onBytes, signal } = options
  const { content } = incoming
  memory.watch(AWAITED)
  const chunks: Buffer[] = []
  const { promise: refused, reject: refuse } = Promise.withResolvers<never>()
  let bytes = 0
  let covered: Promise<void> | undefined
  content.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) refuse(fileTooLarge(maxBytes))
    // A file that does not fit is refused now: its client may never send the rest.
    covered = onBytes(bytes)
    if (covered === undefined) return
    content.pause()
    covered.then(() => content.resume(), refuse)
  })
  const receive = async (): Promise<void> => {
    await Promise.race([finished(content, { writable: false }), refused])
    // A content whose last bytes were read ends although it is paused.
    await covered
    await incoming.end()
  }
  await settledUnlessAborted(receive(), signal)
  memory.watch(IDLE)
  return Buffer.concat(chunks)
}

async function storeStream(options: StoreContentOptions): Promise<StoredContent> {
  const { objects, key, metadata, incoming, memory, onUntouched, signal } = options
  const expectedSize = incoming.size.announced
  const hash = createHash('sha256')
  let digest: string | undefined
  const sha256 = (): string => (digest ??= hash.digest('hex'))
  const meter = createByteMeter({ ...options, digests: [hash] })
  memory.watch(meter)
  const [flow, put] = await Promise.allSettled([
    pipeline(incoming.content, meter.stream, { signal }),
    objects.put({
      key,
      body: meter.stream,
      sha256,
      metadata,
      memory,
      // The chunks are Node's own copies of received bytes.
      release: detachBuffer,
      onUntouched,
      signal,
      ...(expectedSize === undefined ? {} : { expectedSize }),
    }),
  ])
  if (put.status === 'rejected' || flow.status === 'rejected') throw causeOf({ flow, put, signal })
  const { bytes: size } = meter
  assertSize({ sent: size, stored: put.value.size })
  memory.watch(AWAITED)
  await settledUnlessAborted(incoming.end(), signal)
  memory.watch(IDLE)
  return { size, sha256: sha256() }
}

/** Waits only for the rest of the request. */
const AWAITED = { bytes: 0, isAwaited: true }

/** The client has sent everything: how long the store takes says nothing about it. */
const IDLE = { bytes: 0, isAwaited: false }

function assertSize({ sent, stored }: { readonly sent: number; readonly stored: number }): void {
  if (sent === stored) return
  const detail = 'The object store stored fewer or more bytes than the service sent.'
  const cause = new Error(`sent ${sent} bytes, stored ${stored}`)
  throw new AppError('unavailable', detail, { cause, dependency: 'object_store' })
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

export function digestMismatch(sha256: string): AppError {
  return new AppError(
    'digest_mismatch',
    'The received content does not match the Repr-Digest header.',
    { facts: { sha256 } },
  )
}
