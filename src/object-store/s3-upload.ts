import { Readable } from 'node:stream'
import { Upload } from '@aws-sdk/lib-storage'
import type { ObjectKey } from '../core/object-key.ts'
import type { PutObject } from '../core/object-store.ts'
import { gatherParts, type Part } from './gather-parts.ts'
import { receive, type Source } from './receive.ts'
import { DEFAULT_PART_SIZE, type S3Bucket } from './s3-bucket.ts'
import { headObject } from './s3-read.ts'
import { abortOpenUploads, removeObject } from './s3-remove.ts'
import { S3Sender } from './s3-sender.ts'

export interface UploadOptions {
  /** Bytes of a part, unless the object needs larger ones; at least 5 MiB. */
  readonly partSize: number
  /** Parts under way at a time. An upload holds up to queueSize + 1 parts in memory. */
  readonly queueSize: number
  /** The largest body that comes without an `expectedSize`, in bytes. */
  readonly maxFileSize: number
}

const MAX_PARTS = 10_000

/** Bytes of the parts in which a file of up to `size` bytes is sent: S3 takes 10,000 of them. */
export function partSizeFor(size: number, least = DEFAULT_PART_SIZE): number {
  return Math.max(least, Math.ceil(size / MAX_PARTS))
}

/**
 * Guarantees the port's `put`: it resolves once the store has confirmed the object and states the size that was
 * counted here; else it removes what it sent, as far as that can be done in time, and rejects with the first cause.
 */
export async function uploadObject(
  bucket: S3Bucket,
  { object, options }: { readonly object: PutObject; readonly options: UploadOptions },
): Promise<{ readonly size: number }> {
  const { key, expectedSize = options.maxFileSize } = object
  const partSize = partSizeFor(expectedSize, options.partSize)
  const partMs = bucket.deadlines.partMs * Math.max(1, partSize / DEFAULT_PART_SIZE)
  const onSent = (bytes: number): void => object.memory?.release(bytes)
  const sender = new S3Sender(bucket, { key, partMs, onSent })
  try {
    return await receive(object, async (source) => {
      await sendContent({ ...options, partSize, bucket, object, sender, source })
      return confirm({ bucket, key, sender, source })
    })
  } catch (error) {
    if (sender.hasSent) await discard(bucket, key)
    throw error
  }
}

interface Content extends UploadOptions {
  readonly bucket: S3Bucket
  readonly object: PutObject
  readonly sender: S3Sender
  readonly source: Source
}

async function sendContent(content: Content): Promise<void> {
  const { bucket, object, partSize, queueSize, sender, source } = content
  const { expectedSize } = object
  const bytes = object.memory?.hold(source.bytes, { partSize, expectedSize }) ?? source.bytes
  const parts = gatherParts(bytes, partSize)
  const params = {
    Bucket: bucket.name,
    Key: object.key,
    // It is never read: `feed` brings the parts.
    Body: Readable.from([]),
    ContentType: 'application/octet-stream',
    ...(object.metadata && { Metadata: { ...object.metadata } }),
  }
  try {
    await sender.run(source, (client) => {
      // What is left is removed here, since its own abort would hide the first cause.
      const upload = new Upload({ client, params, partSize, queueSize, leavePartsOnError: true })
      feed(upload, parts)
      return upload.done()
    })
  } finally {
    void parts.return()
  }
}

/**
 * Has `upload` send these parts in place of those that it would gather itself. Its own are views of a block that ends with
 * the first bytes of the next part, so that these few bytes hold a part in memory that was sent long ago, until the
 * next one is whole: with many uploads that was several times what they may hold.
 */
function feed(upload: Upload, parts: AsyncIterable<Part>): void {
  // There is no public way in; should it be gone, every upload fails at once.
  const sending = upload as unknown as { __doConcurrentUpload: SendParts }
  const send = sending.__doConcurrentUpload.bind(upload)
  sending.__doConcurrentUpload = () => send(emptied(parts))
}

type SendParts = (parts: AsyncIterable<Part>) => Promise<void>

/** Empties each part when the next one is asked for: one that waits for its next part would keep the last one. */
async function* emptied(parts: AsyncIterable<Part>): AsyncGenerator<Part, void> {
  for await (const part of parts) {
    yield part
    part.data = NOTHING
  }
}

const NOTHING = Buffer.alloc(0)

async function confirm(
  sent: Pick<Content, 'bucket' | 'sender' | 'source'> & { readonly key: ObjectKey },
): Promise<{ readonly size: number }> {
  const { bucket, key, sender, source } = sent
  const found = await headObject(bucket, { key, signal: source.signal })
  if (found?.size !== source.count()) {
    throw new Error(`${source.count()} bytes were sent, the store states ${found?.size}`)
  }
  if (sender.mayHaveStray) await abortOpenUploads(bucket, { key, signal: source.signal })
  return { size: found.size }
}

/** Best effort: whoever called `put` removes the key again, and the first cause is the one to report. */
async function discard(bucket: S3Bucket, key: ObjectKey): Promise<void> {
  const signal = AbortSignal.timeout(bucket.deadlines.cleanupMs)
  await removeObject(bucket, { key, signal }).catch(() => undefined)
}
