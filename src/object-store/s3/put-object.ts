import { createHash } from 'node:crypto'
import { settledUnlessAborted, timeoutSignal, withDeadline } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { BufferPool } from '../buffer-pool.ts'
import { consumeBody } from '../consume-body.ts'
import type { S3Bucket } from './bucket.ts'
import { abortOpenUploads, removeObject } from './delete-object.ts'
import { headObject, META } from './get-object.ts'
import { CONTENT_TYPE, MultipartUpload } from './multipart-upload.ts'
import { DEFAULT_PART_SIZE, partSizeFor } from '../../core/uploads/memory/budget.ts'
import { gatherParts, type Part, type PartBuffer } from './parts.ts'

export interface UploadOptions {
  /** Bytes, at least 5 MiB. Large objects get larger parts. */
  readonly partSize: number
  /** Parts in memory at a time, including the one being gathered; an upload holds these and one chunk. */
  readonly queueSize: number
  /** The largest body without an `expectedSize`, in bytes. */
  readonly maxFileSize: number
}

export interface UploadObject {
  readonly object: PutObject
  readonly options: UploadOptions
  readonly pool: BufferPool
}

/** Implements the port's `put`. After a failure it cleans up within `cleanupMs` and rejects with the first cause. */
export async function uploadObject(
  bucket: S3Bucket,
  { object, options, pool }: UploadObject,
): Promise<{ readonly size: number }> {
  const { key, metadata = {}, expectedSize, memory } = object
  const partSize = partSizeFor(expectedSize ?? options.maxFileSize, options.partSize)
  const sent: Sent = { hasSent: false, multipart: undefined }
  try {
    return await consumeBody(object, async (source) => {
      const failed = new AbortController()
      const signal = AbortSignal.any([source.signal, failed.signal])
      const parts = gatherParts(source.bytes, { partSize, pool, memory, expectedSize })
      const { queueSize: concurrency } = options
      const upload = { bucket, key, metadata, partSize, concurrency, signal, parts, sent }
      try {
        return await settledUnlessAborted(send(upload), signal)
      } catch (error) {
        // `send` can also fail on its own, with parts in flight.
        failed.abort(error)
        throw error
      } finally {
        void parts.return()
      }
    })
  } catch (error) {
    if (sent.hasSent) await discard(bucket, { key, sent })
    else object.onUntouched?.()
    throw error
  }
}

interface Sent {
  /** Whether the store may contain part of the object. */
  hasSent: boolean
  multipart: MultipartUpload | undefined
}

interface Upload extends Required<Pick<PutObject, 'key' | 'metadata' | 'signal'>> {
  readonly bucket: S3Bucket
  readonly partSize: number
  readonly concurrency: number
  readonly parts: AsyncGenerator<Part, void>
  readonly sent: Sent
}

async function send(upload: Upload): Promise<{ readonly size: number }> {
  const { bucket, signal, parts, sent } = upload
  const { value: first } = await parts.next()
  if (first === undefined) throw new TypeError('An object has at least one part')
  signal.throwIfAborted()
  sent.hasSent = true
  if (first.isLast) return await sendWhole(upload, first.content)
  const multipart = new MultipartUpload(bucket, upload)
  sent.multipart = multipart
  await multipart.send(first, parts)
  await finish(upload, {
    ms: bucket.deadlines.completeMs,
    call: (signal) => multipart.complete(signal),
  })
  return await confirm(upload, multipart.sentBytes)
}

async function sendWhole(upload: Upload, body: PartBuffer): Promise<{ readonly size: number }> {
  const { bucket, key, metadata } = upload
  const { direct, deadlines } = bucket
  const { byteLength: size } = body
  const headers: Record<string, string> = { 'content-type': CONTENT_TYPE }
  for (const [name, text] of Object.entries(metadata)) headers[META + name] = text
  const etag = await finish(upload, {
    ms: Math.max(deadlines.callMs, (deadlines.putMs * size) / DEFAULT_PART_SIZE),
    call: async (signal) => {
      const { headers: stated } = await direct.send({ method: 'PUT', key, headers, body, signal })
      return stated['etag']
    },
  })
  const isConfirmed = isMd5(etag, body)
  body.giveBack()
  return isConfirmed ? { size } : await confirm(upload, size)
}

interface LastCall {
  readonly ms: number
  readonly call: (signal: AbortSignal) => Promise<string | undefined>
}

/** If the call fails, the object may exist anyway, with any size. Then this resolves to a value that is no ETag. */
async function finish(upload: Upload, { ms, call }: LastCall): Promise<string> {
  const { signal } = upload
  const etag = await withDeadline({ ms, signal }, call).catch((error: unknown) =>
    findOrThrow(upload, error),
  )
  // The SDK can take an error after the status line for success, but then there is no ETag.
  if (etag === undefined) throw new Error('The store confirmed the object without an ETag')
  return etag
}

async function findOrThrow({ bucket, key, signal }: Upload, cause: unknown): Promise<string> {
  if (signal.aborted) throw cause
  const found = await headObject(bucket, { key, signal }).catch(() => undefined)
  if (found === undefined) throw cause
  return 'lost'
}

/** Up to this size, a digest costs less than asking the store for the object's size. */
const MAX_DIGESTED_BYTES = 64 * 1024

/** An ETag is the content's MD5 unless the store encrypts with its own key ("Object" in the S3 API reference). */
function isMd5(etag: string, { byteLength, chunks }: PartBuffer): boolean {
  if (byteLength > MAX_DIGESTED_BYTES) return false
  try {
    const md5 = createHash('md5')
    for (const chunk of chunks) md5.update(chunk)
    return etag === `"${md5.digest('hex')}"`
  } catch {
    // MD5 can be forbidden, as in FIPS mode.
    return false
  }
}

async function confirm(
  { bucket, key, signal, sent }: Upload,
  size: number,
): Promise<{ readonly size: number }> {
  const found = await headObject(bucket, { key, signal })
  if (found?.size !== size) {
    throw new Error(`${size} bytes were sent, the store states ${found?.size}`)
  }
  if (sent.multipart?.mayHaveStray === true) await abortOpenUploads(bucket, { key, signal })
  return { size }
}

/** Best effort: the caller of `put` removes the key again. */
async function discard(
  bucket: S3Bucket,
  { key, sent }: Pick<Upload, 'key' | 'sent'>,
): Promise<void> {
  const signal = timeoutSignal(bucket.deadlines.cleanupMs)
  await sent.multipart?.settled(signal)
  await removeObject(bucket, { key, signal }).catch(() => undefined)
}
