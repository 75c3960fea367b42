import { Readable } from 'node:stream'
import { Upload } from '@aws-sdk/lib-storage'
import { timeoutSignal } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { Blocks } from '../buffer-pool.ts'
import { gatherParts, type Part } from './parts/part-stream.ts'
import type { PartContent } from './parts/part-buffer.ts'
import { partSizeFor } from './parts/part-size.ts'
import { receive, type Source } from '../consume-body.ts'
import type { S3Bucket } from './bucket.ts'
import { headObject } from './get-object.ts'
import { abortOpenUploads, removeObject } from './delete-object.ts'
import { CONTENT_TYPE, S3Sender } from './upload-session.ts'

export interface UploadOptions {
  /** Bytes of a part, unless the object needs larger ones; at least 5 MiB. */
  readonly partSize: number
  /** Parts under way at a time, the one that is gathered among them; an upload holds that many and a piece. */
  readonly queueSize: number
  /** The largest body that comes without an `expectedSize`, in bytes. */
  readonly maxFileSize: number
}

export interface UploadObject {
  readonly object: PutObject
  readonly options: UploadOptions
  readonly blocks: Blocks
}

/**
 * Guarantees the port's `put`: it resolves once the store has confirmed the object and states that it is what was
 * sent; else it removes what it sent, as far as that can be done in time, and rejects with the first cause.
 */
export async function uploadObject(
  bucket: S3Bucket,
  { object, options, blocks }: UploadObject,
): Promise<{ readonly size: number }> {
  const { expectedSize, memory, mayFreeChunks } = object
  const partSize = partSizeFor(expectedSize ?? options.maxFileSize, options.partSize)
  const onSent = (part: PartContent): void => {
    part.giveBack()
    memory?.release(part.byteLength)
  }
  const sender = new S3Sender(bucket, { ...object, partSize, onSent })
  try {
    return await receive(object, async (source) => {
      const bytes = memory?.hold(source.bytes, { partSize, expectedSize }) ?? source.bytes
      const parts = gatherParts(bytes, { partSize, blocks, mayFreeChunks })
      const sending = { ...options, partSize, bucket, object, sender, parts }
      try {
        const isConfirmed = await sender.run(source, () => sendContent(sending))
        return isConfirmed ? { size: source.count() } : await confirm(sending, source)
      } finally {
        void parts.return()
      }
    })
  } catch (error) {
    if (sender.hasSent) await discard(bucket, object)
    else object.onUntouched?.()
    throw error
  }
}

interface Sending extends UploadOptions {
  readonly bucket: S3Bucket
  readonly object: PutObject
  readonly sender: S3Sender
  readonly parts: AsyncGenerator<Part, void>
}

/** Says whether the store has stated already that it holds what was sent. */
async function sendContent(sending: Sending): Promise<boolean> {
  const { sender, parts } = sending
  const { value: first } = await parts.next()
  if (first === undefined) throw new TypeError('An object has at least one part')
  if (!first.lastPart) {
    await sendInParts(first, sending)
    return false
  }
  return await sender.sendWhole(first.data)
}

async function sendInParts(first: Part, sending: Sending): Promise<void> {
  const { bucket, object, partSize, queueSize, sender, parts } = sending
  const params = {
    Bucket: bucket.name,
    Key: object.key,
    // It is never read: `feed` brings the parts.
    Body: Readable.from([]),
    ContentType: CONTENT_TYPE,
    ...(object.metadata && { Metadata: { ...object.metadata } }),
  }
  // What is left is removed here, since its own abort would hide the first cause.
  const options = { params, partSize, queueSize, leavePartsOnError: true }
  const upload = new Upload({ ...options, client: sender.client })
  feed(upload, first, parts)
  await upload.done()
}

/**
 * Has `upload` send these parts in place of those that it would gather itself. Its own are views of a block that ends with
 * the first bytes of the next part, so that these few bytes hold a part in memory that was sent long ago, until the
 * next one is whole: with many uploads that was several times what they may hold.
 */
function feed(upload: Upload, first: Part, rest: AsyncIterable<Part>): void {
  // There is no public way in; should it be gone, every upload fails at once.
  const sending = upload as unknown as { __doConcurrentUpload: SendParts }
  const send = sending.__doConcurrentUpload.bind(upload)
  const parts = prepend(first, rest)
  // It has several read at a time.
  sending.__doConcurrentUpload = () => send(parts)
}

type SendParts = (parts: AsyncIterable<Part>) => Promise<void>

async function* prepend(first: Part, rest: AsyncIterable<Part>): AsyncGenerator<Part, void> {
  yield first
  yield* rest
}

async function confirm(
  { bucket, object, sender }: Sending,
  { count, signal }: Source,
): Promise<{ readonly size: number }> {
  const { key } = object
  const found = await headObject(bucket, { key, signal })
  if (found?.size !== count()) {
    throw new Error(`${count()} bytes were sent, the store states ${found?.size}`)
  }
  if (sender.mayHaveStray) await abortOpenUploads(bucket, { key, signal })
  return { size: found.size }
}

/** Best effort: whoever called `put` removes the key again, and the first cause is the one to report. */
async function discard(bucket: S3Bucket, { key }: PutObject): Promise<void> {
  const signal = timeoutSignal(bucket.deadlines.cleanupMs)
  await removeObject(bucket, { key, signal }).catch(() => undefined)
}
