import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { settledUnlessAborted } from '../async/deadline.ts'
import { AppError, isAppError } from '../errors.ts'
import { type ContentDigest, digestOf, DigestState } from '../objects/content-digest.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import { detachBuffer, type ObjectStore } from '../objects/object-store.ts'
import { type BodyMemory, FIRST_BYTES } from '../memory/body-memory.ts'
import type { MemoryAllocation } from '../memory/allocation.ts'
import { createByteMeter, fileTooLarge } from './byte-meter.ts'

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

export interface StoreContentOptions {
  /** As `ByteMeterOptions`. */
  readonly maxBytes: number
  readonly onBytes: (end: number) => Promise<void> | undefined
  readonly objects: ObjectStore
  readonly key: ObjectKey
  /** Called once: of a small file when the whole request has arrived. If it throws, nothing is stored. */
  readonly metadata: () => ObjectMetadata
  readonly incoming: IncomingFile
  readonly memory: BodyMemory & Pick<MemoryAllocation, 'watch'>
  /** As for `put`. */
  readonly onUntouched?: () => void
  readonly signal: AbortSignal
}

export interface StoredContent extends ContentDigest {
  readonly size: number
}

/**
 * Guarantees that the object store holds the whole content under `key` and that the whole request was valid. Settles
 * when all work has ended. Rejects with the first failure, of the request, a limit, the signal or the store.
 */
export async function storeContent(options: StoreContentOptions): Promise<StoredContent> {
  const { max = FIRST_BYTES } = options.incoming.size
  const small = max > FIRST_BYTES ? undefined : await receiveSmall(options)
  const metadata = metadataOf(options)
  return small === undefined
    ? await storeStream(options, metadata)
    : await storeSmall(options, { body: small, metadata })
}

type ObjectMetadata = Readonly<Record<string, string>>

function metadataOf({ metadata, incoming, onUntouched }: StoreContentOptions): ObjectMetadata {
  try {
    return metadata()
  } catch (error) {
    onUntouched?.()
    incoming.content.destroy()
    throw error
  }
}

async function storeSmall(
  { objects, key, onUntouched, signal }: StoreContentOptions,
  { body, metadata }: { readonly body: Buffer; readonly metadata: ObjectMetadata },
): Promise<StoredContent> {
  const { sha256, crc32 } = digestOf(body)
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
  return { size, sha256, crc32 }
}

/**
 * Resolves when the whole request has arrived and is valid, so one that breaks off leaves nothing in the store; to
 * `undefined` if the content is not small.
 */
async function receiveSmall(options: StoreContentOptions): Promise<Buffer | undefined> {
  const { incoming, memory, maxBytes, onBytes, onUntouched, signal } = options
  const { content, size } = incoming
  const isAnnounced = size.announced !== undefined
  const receive = async (): Promise<Buffer | undefined> => {
    memory.watch(AWAITED)
    const whole = await readSmall(content, isAnnounced ? onBytes : undefined)
    if (whole === undefined) return undefined
    if (whole.byteLength > maxBytes) throw fileTooLarge(maxBytes)
    memory.watch(IDLE)
    // Once: uploads that grow at the same time can keep one another from fitting.
    if (!isAnnounced) await onBytes(whole.byteLength)
    memory.watch(AWAITED)
    await incoming.end()
    memory.watch(IDLE)
    return whole
  }
  try {
    return await settledUnlessAborted(receive(), signal)
  } catch (error) {
    onUntouched?.()
    content.destroy()
    throw signal.aborted && !isAppError(error) ? signal.reason : error
  }
}

/** A `Buffer` takes 600 bytes beside its content. */
const MOST_CHUNKS = 16

/**
 * Resolves to `undefined` when more than `FIRST_BYTES` have come; the content can then be read again from its start.
 * `onChunk` is called with the bytes so far, and awaited. Its error refuses the rest, which may never arrive.
 */
async function readSmall(
  content: Readable,
  onChunk: StoreContentOptions['onBytes'] | undefined,
): Promise<Buffer | undefined> {
  let chunks: Buffer[] = []
  let bytes = 0
  let taken: Promise<void> | undefined
  const end = new AbortController()
  const { promise: cut, resolve, reject } = Promise.withResolvers<undefined>()
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > FIRST_BYTES) {
      content.off('data', onData).pause()
      for (const each of chunks.toReversed()) content.unshift(each)
      resolve(undefined)
      end.abort()
      return
    }
    if (chunks.length > MOST_CHUNKS) chunks = [Buffer.concat(chunks)]
    taken = onChunk?.(bytes)
    if (taken === undefined) return
    content.pause()
    taken.then(() => content.resume(), reject)
  }
  const receive = async (): Promise<Buffer> => {
    // Without `signal`, it would keep the chunks of a content that is read again.
    await finished(content, { writable: false, cleanup: true, signal: end.signal })
    // A content whose last bytes were read ends although it is paused.
    await taken
    return Buffer.concat(chunks)
  }
  content.on('data', onData)
  return await Promise.race([receive(), cut])
}

async function storeStream(
  options: StoreContentOptions,
  metadata: ObjectMetadata,
): Promise<StoredContent> {
  const { objects, key, incoming, memory, maxBytes, onBytes, onUntouched, signal } = options
  const expectedSize = incoming.size.announced
  const state = new DigestState()
  let ended: ContentDigest | undefined
  const digest = (): ContentDigest => (ended ??= state.end())
  const meter = createByteMeter({ maxBytes, digests: [state], onBytes })
  memory.watch(meter)
  const [flow, put] = await Promise.allSettled([
    pipeline(incoming.content, meter.stream, { signal }),
    objects.put({
      key,
      body: meter.stream,
      expectedSize,
      sha256: () => digest().sha256,
      metadata,
      memory,
      // The chunks are Node's own copies of received bytes.
      release: detachBuffer,
      onUntouched,
      signal,
    }),
  ])
  if (put.status === 'rejected' || flow.status === 'rejected') throw causeOf({ flow, put, signal })
  const { bytes: size } = meter
  assertSize({ sent: size, stored: put.value.size })
  memory.watch(AWAITED)
  await settledUnlessAborted(incoming.end(), signal)
  memory.watch(IDLE)
  const { sha256, crc32 } = digest()
  return { size, sha256, crc32 }
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
