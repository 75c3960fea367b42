import { settledUnlessAborted, timeoutSignal } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { BufferPool } from '../buffer-pool.ts'
import { consumeBody } from '../consume-body.ts'
import type { S3Bucket } from './bucket.ts'
import { abortOpenUploads, removeObject } from './delete-object.ts'
import { completeMultipart, MultipartUpload, type SentPart } from './multipart-upload.ts'
import { partSizeFor } from './part-size.ts'
import { gatherParts, type Part, type PartContent } from './parts.ts'
import { assertStored, putContent } from './put-content.ts'
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

/** Implements the port's `put`. Cleans up after a failure, for up to twice `cleanupMs`. Rejects with the first cause. */
export async function uploadObject(
  bucket: S3Bucket,
  upload: UploadObject,
): Promise<{ readonly size: number }> {
  const putting = new Putting(bucket, upload)
  try {
    return await putting.put()
  } catch (error) {
    await putting.undo()
    throw error
  }
}

class Putting {
  readonly #bucket: S3Bucket
  readonly #upload: UploadObject
  /** Whether the store may contain part of the object. */
  #hasSent = false
  #multipart: MultipartUpload | undefined
  /** Ends the parts in flight. */
  readonly #cut = new AbortController()

  constructor(bucket: S3Bucket, upload: UploadObject) {
    this.#bucket = bucket
    this.#upload = upload
  }

  async put(): Promise<{ readonly size: number }> {
    const { body, signal } = this.#upload.object
    if (body instanceof Uint8Array) {
      const { byteLength } = body
      const content = { byteLength, chunks: [body], giveBack: () => undefined }
      return await translated(this.#sendWhole(content, signal))
    }
    return await consumeBody({ body, signal }, async (source) => {
      const failed = new AbortController()
      const signal = AbortSignal.any([source.signal, failed.signal])
      const parts = this.#gather(source.bytes, signal)
      try {
        return await settledUnlessAborted(this.#send(parts, signal), signal)
      } catch (error) {
        // `#send` can also fail on its own, with parts in flight.
        failed.abort(error)
        throw error
      } finally {
        void parts.return()
      }
    })
  }

  /** Best effort: the caller of `put` removes the key again. */
  async undo(): Promise<void> {
    const { key, onUntouched } = this.#upload.object
    if (!this.#hasSent) {
      onUntouched?.()
      return
    }
    const { cleanupMs } = this.#bucket.deadlines
    await this.#multipart?.settled(timeoutSignal(cleanupMs))
    this.#cut.abort()
    const signal = timeoutSignal(cleanupMs)
    await removeObject(this.#bucket, { key, signal }).catch(() => undefined)
  }

  get #partSize(): number {
    const { object, options } = this.#upload
    return partSizeFor(object.expectedSize ?? options.maxFileSize, options.partSize)
  }

  #gather(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Part, void> {
    const { object, pool } = this.#upload
    const { expectedSize, memory, release } = object
    const acquire = memory && ((bytes: number) => memory.acquire(bytes, signal))
    const partSize = this.#partSize
    return gatherParts(bytes, { partSize, expectedSize, pool, acquire, release })
  }

  async #send(
    parts: AsyncGenerator<Part, void>,
    signal: AbortSignal,
  ): Promise<{ readonly size: number }> {
    const { object, options } = this.#upload
    const { key, metadata = {} } = object
    const { value: first } = await parts.next()
    if (first === undefined) throw new TypeError('An object has at least one part')
    if (first.isLast) return await this.#sendWhole(first.content, signal)
    signal.throwIfAborted()
    this.#hasSent = true
    const sent: SentPart[] = []
    this.#multipart = new MultipartUpload(this.#bucket, {
      key,
      metadata,
      partSize: this.#partSize,
      concurrency: options.queueSize,
      onSent: (part) => void sent.push(part),
      // The caller's signal would cut parts that the store may keep after the upload has been aborted.
      signal: this.#cut.signal,
    })
    const { uploadId } = await this.#multipart.send(first, parts)
    await completeMultipart(this.#bucket, { key, uploadId, parts: sent, signal })
    const size = sent.reduce((sum, { byteLength }) => sum + byteLength, 0)
    await assertStored(this.#bucket, { key, size, signal })
    if (this.#multipart.mayHaveStray) await abortOpenUploads(this.#bucket, { key, signal })
    return { size }
  }

  async #sendWhole(content: PartContent, signal: AbortSignal): Promise<{ readonly size: number }> {
    const { key, metadata = {}, sha256 } = this.#upload.object
    const { byteLength: size } = content
    signal.throwIfAborted()
    this.#hasSent = true
    const put = { key, metadata, content, sha256: sha256?.(), signal }
    const { isConfirmed } = await putContent(this.#bucket, put)
    content.giveBack()
    if (!isConfirmed) await assertStored(this.#bucket, { key, size, signal })
    return { size }
  }
}
