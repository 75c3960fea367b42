import { settledUnlessAborted, timeoutSignal } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { BufferPool } from '../buffer-pool.ts'
import { consumeBody } from '../consume-body.ts'
import type { S3Bucket } from './bucket.ts'
import { abortOpenUploads, removeObject } from './delete-object.ts'
import { completeMultipart, MultipartUpload, type SentPart } from './multipart-upload.ts'
import { partSizeFor } from './part-size.ts'
import { gatherParts, type Part, type PartContent } from './parts.ts'
import { assertStored, isMd5, putContent } from './put-content.ts'
import { translated } from '../store-error.ts'

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
  const { key, body, sha256, metadata = {}, expectedSize, memory, release, signal } = object
  const partSize = partSizeFor(expectedSize ?? options.maxFileSize, options.partSize)
  const sent: Sent = { hasSent: false, multipart: undefined }
  try {
    if (body instanceof Uint8Array) {
      return await translated(sendBytes({ bucket, key, sha256, metadata, signal, sent }, body))
    }
    return await consumeBody({ body, signal }, async (source) => {
      const failed = new AbortController()
      const signal = AbortSignal.any([source.signal, failed.signal])
      const acquire = memory && ((bytes: number) => memory.acquire(bytes, signal))
      const gathering = { partSize, expectedSize, pool, acquire, release }
      const parts = gatherParts(source.bytes, gathering)
      const { queueSize: concurrency } = options
      const upload = { bucket, key, sha256, metadata, partSize, concurrency, signal, parts, sent }
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

interface WholeUpload extends Required<Pick<PutObject, 'key' | 'metadata' | 'signal'>> {
  readonly sha256: PutObject['sha256']
  readonly bucket: S3Bucket
  readonly sent: Sent
}

interface Upload extends WholeUpload {
  readonly partSize: number
  readonly concurrency: number
  readonly parts: AsyncGenerator<Part, void>
}

async function sendBytes(
  upload: WholeUpload,
  bytes: Uint8Array,
): Promise<{ readonly size: number }> {
  upload.signal.throwIfAborted()
  upload.sent.hasSent = true
  const { byteLength } = bytes
  return await sendWhole(upload, { byteLength, chunks: [bytes], giveBack: () => undefined })
}

async function send(upload: Upload): Promise<{ readonly size: number }> {
  const { bucket, signal, parts, sent } = upload
  const { value: first } = await parts.next()
  if (first === undefined) throw new TypeError('An object has at least one part')
  signal.throwIfAborted()
  sent.hasSent = true
  if (first.isLast) return await sendWhole(upload, first.content)
  const sentParts: SentPart[] = []
  const onSent = (part: SentPart): void => void sentParts.push(part)
  const multipart = new MultipartUpload(bucket, { ...upload, onSent })
  sent.multipart = multipart
  const { uploadId } = await multipart.send(first, parts)
  await completeMultipart(bucket, { ...upload, uploadId, parts: sentParts })
  const size = sentParts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return await confirm(upload, size)
}

async function sendWhole(
  upload: WholeUpload,
  content: PartContent,
): Promise<{ readonly size: number }> {
  const { byteLength: size } = content
  const etag = await putContent(upload.bucket, { ...upload, content, sha256: upload.sha256?.() })
  const isConfirmed = etag !== undefined && isMd5(etag, content)
  content.giveBack()
  return isConfirmed ? { size } : await confirm(upload, size)
}

async function confirm(
  { bucket, key, signal, sent }: WholeUpload,
  size: number,
): Promise<{ readonly size: number }> {
  await assertStored(bucket, { key, signal, size })
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
