import { addAbortSignal, Readable } from 'node:stream'
import { sleep } from '../../core/async/sleep.ts'
import { Deadline, timeoutError, withDeadline } from '../../core/async/deadline.ts'
import {
  detachBuffer,
  type ObjectHead,
  type OpenedObject,
  type OpenObject,
} from '../../core/objects/object-store.ts'
import type { NamedObject } from '../../core/objects/object-key.ts'
import { storeError } from '../store-error.ts'
import { findBucket, hasName, isMissing, type S3Bucket } from './bucket.ts'
import type { DirectRequest } from './client.ts'
import type { S3Headers, S3Response } from './transport.ts'

export const META = 'x-amz-meta-'

export async function headObject(
  bucket: S3Bucket,
  { key, signal }: NamedObject,
): Promise<ObjectHead | undefined> {
  const answer = await findObject(bucket, { method: 'HEAD', key, signal })
  if (answer === undefined) return undefined
  const metadata: Record<string, string> = {}
  for (const [name, text = ''] of Object.entries(answer.headers)) {
    if (name.startsWith(META)) metadata[name.slice(META.length)] = text
  }
  return { size: answer.length, metadata }
}

export async function openObject(
  bucket: S3Bucket,
  { key, range, signal }: OpenObject,
): Promise<OpenedObject | undefined> {
  const headers = range && { range: `bytes=${range.first}-${range.last}` }
  const answer = await findObject(bucket, { method: 'GET', key, headers, signal })
  if (answer === undefined) return undefined
  const { body: content = NOTHING, length } = answer
  try {
    const size = range === undefined ? length : wholeSize(answer, range)
    if (content instanceof Uint8Array) {
      if (content.byteLength === length) return { body: content, size }
      throw new Error(`The response has ${content.byteLength} bytes instead of ${length}`)
    }
    const body = createS3Body(content, { length, idleMs: bucket.deadlines.idleMs, signal })
    return { body, size, release: detachBuffer }
  } catch (error) {
    if (!(content instanceof Uint8Array)) content.destroy()
    throw storeError(error)
  }
}

const NOTHING = new Uint8Array()

interface FoundObject extends S3Response {
  readonly length: number
}

/**
 * Resolves to `undefined` after three denials. All other failures, including a missing bucket, are `storeError`. Later
 * looks use a new connection, to reach another node: a MinIO node that has just restarted can deny for up to 15 s what
 * was written while it was down. One deadline covers the whole call.
 */
async function findObject(
  bucket: S3Bucket,
  request: DirectRequest,
): Promise<FoundObject | undefined> {
  const { callMs, secondLookMs } = bucket.deadlines
  const deadline = { ms: callMs, signal: request.signal }
  try {
    return await withDeadline(deadline, async (signal) => {
      let denial: unknown
      for (const [look, waitMs] of [0, 0, secondLookMs].entries()) {
        if (waitMs > 0) await sleep(waitMs, signal)
        try {
          const onNewConnection = look > 0
          const answer = await bucket.direct.send({ ...request, onNewConnection, signal })
          const { 'content-length': length } = answer.headers
          if (length === undefined) throw withoutLength(answer)
          return { ...answer, length: Number(length) }
        } catch (error) {
          if (!isMissing(error)) throw error
          denial = error
        }
      }
      // An answer to HEAD has no body, so it cannot say whether the object or the bucket is missing.
      if (hasName(denial, 'NotFound')) await findBucket(bucket, signal)
      return undefined
    })
  } catch (error) {
    throw storeError(error)
  }
}

function withoutLength({ body }: S3Response): Error {
  if (body instanceof Readable) body.destroy()
  return new Error('The response states no length')
}

const TOTAL = /\/(\d+)$/

function wholeSize(
  { headers, length }: { readonly headers: S3Headers; readonly length: number },
  { first, last }: NonNullable<OpenObject['range']>,
): number {
  const size = Number(TOTAL.exec(headers['content-range'] ?? '')?.[1])
  if (size > last && length === last - first + 1) return size
  throw new Error('The response does not contain the requested range')
}

export interface S3BodyOptions {
  readonly length: number
  readonly idleMs: number
  readonly signal: AbortSignal
}

/** Yields exactly `length` bytes or fails with `storeError`. Owns `content` and reads it only on demand. */
export function createS3Body(content: Readable, options: S3BodyOptions): Readable {
  const { length, idleMs, signal } = options
  let missing = length
  let isWanted = false
  const silence = new Deadline(idleMs, () => isWanted && fail(timeoutError(idleMs)))
  const body = new Readable({
    // No read-ahead while paused.
    highWaterMark: 0,
    read: () => {
      isWanted = true
      silence.refresh()
      content.resume()
    },
    destroy: (error, done) => {
      silence.clear()
      content.destroy()
      done(error)
    },
  })

  function fail(cause: Error): void {
    body.destroy(storeError(cause))
  }
  function take(chunk: Uint8Array): void {
    missing -= chunk.byteLength
    if (missing < 0) return fail(missed())
    silence.refresh()
    isWanted = body.push(chunk) && !body.isPaused()
    if (!isWanted) content.pause()
  }
  const missed = (): Error => new Error(`The content ends ${missing} bytes early`)

  content.on('data', take).pause()
  content.once('end', () => (missing === 0 ? body.push(null) : fail(missed())))
  content.once('error', fail)
  content.once('close', () => {
    if (!content.readableEnded) fail(new Error('The response broke off'))
  })
  // The body can fail before the caller listens.
  return addAbortSignal(signal, body).on('error', () => undefined)
}
