import { timeoutSignal } from '../../core/async/deadline.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { BufferPool } from '../buffer-pool.ts'
import { consumeBody, type Source } from '../consume-body.ts'
import type { S3Bucket } from './bucket.ts'
import { abortOpenUploads, removeObject } from './delete-object.ts'
import { headObject } from './get-object.ts'
import type { PartBuffer } from './parts/part-buffer.ts'
import { partSizeFor } from '../../core/uploads/memory/part-size.ts'
import { gatherParts, type Part } from './parts/part-stream.ts'
import { UploadSession } from './upload-session.ts'

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
  readonly blocks: BufferPool
}

/**
 * Guarantees the port's `put`: it resolves once the store has confirmed the object and states that it is what was
 * sent; else it removes what it sent, as far as that can be done in time, and rejects with the first cause.
 */
export async function uploadObject(
  bucket: S3Bucket,
  { object, options, blocks }: UploadObject,
): Promise<{ readonly size: number }> {
  const { key, expectedSize, memory, mayDetachChunks } = object
  const partSize = partSizeFor(expectedSize ?? options.maxFileSize, options.partSize)
  const onSent = (content: PartBuffer): void => {
    content.giveBack()
    memory?.release(content.byteLength)
  }
  const session = new UploadSession(bucket, { ...object, partSize, onSent })
  try {
    return await consumeBody(object, async (source) => {
      const bytes = memory?.hold(source.bytes, { partSize, expectedSize }) ?? source.bytes
      const parts = gatherParts(bytes, { partSize, blocks, mayDetachChunks })
      try {
        const sending = { session, parts, concurrency: options.queueSize }
        const isConfirmed = await session.run(source, () => send(sending))
        return isConfirmed
          ? { size: source.count() }
          : await confirm(bucket, { key, session, source })
      } finally {
        void parts.return()
      }
    })
  } catch (error) {
    if (session.hasSent) await discard(bucket, { key, session })
    else object.onUntouched?.()
    throw error
  }
}

interface Sending {
  readonly session: UploadSession
  readonly parts: AsyncGenerator<Part, void>
  readonly concurrency: number
}

/** Says whether the store has stated already that it holds what was sent. */
async function send({ session, parts, concurrency }: Sending): Promise<boolean> {
  const { value: first } = await parts.next()
  if (first === undefined) throw new TypeError('An object has at least one part')
  if (first.isLast) return await session.sendWhole(first.content)
  await session.sendInParts(prepend(first, parts), concurrency)
  return false
}

async function* prepend(first: Part, rest: AsyncIterable<Part>): AsyncGenerator<Part, void> {
  yield first
  yield* rest
}

interface Sent {
  readonly key: ObjectKey
  readonly session: UploadSession
}

async function confirm(
  bucket: S3Bucket,
  { key, session, source: { count, signal } }: Sent & { readonly source: Source },
): Promise<{ readonly size: number }> {
  const found = await headObject(bucket, { key, signal })
  if (found?.size !== count()) {
    throw new Error(`${count()} bytes were sent, the store states ${found?.size}`)
  }
  if (session.mayHaveStray) await abortOpenUploads(bucket, { key, signal })
  return { size: found.size }
}

/** Best effort: whoever called `put` removes the key again, and the first cause is the one to report. */
async function discard(bucket: S3Bucket, { key, session }: Sent): Promise<void> {
  const signal = timeoutSignal(bucket.deadlines.cleanupMs)
  await session.settled(signal)
  await removeObject(bucket, { key, signal }).catch(() => undefined)
}
