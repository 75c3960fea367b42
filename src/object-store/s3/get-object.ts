import { detachBuffer } from '../detach-buffer.ts'
import { bufferedObject } from './client/buffered-object.ts'
import type {
  NamedObject,
  ObjectHead,
  OpenedObject,
  OpenObject,
} from '../../core/objects/object-store.ts'
import { createS3Body } from './client/response-body.ts'
import type { S3Bucket } from './bucket.ts'
import type { DirectS3 } from './client/client.ts'
import { orMissing } from './errors.ts'
import type { S3Headers } from './client/transport.ts'
import { storeError } from '../store-error.ts'

/** What the store states of an object, or `undefined` when it holds no such object. */
export async function headObject(
  bucket: S3Bucket,
  { key, signal }: NamedObject,
): Promise<ObjectHead | undefined> {
  const call = async (direct: DirectS3, signal: AbortSignal) => {
    const headers = await direct.ask({ method: 'HEAD', key, signal })
    return { size: lengthIn(headers), metadata: metadataIn(headers) }
  }
  return orMissing(bucket, { signal, call })
}

/** Opens an object. A slow reader may take its time; a store that falls silent may not. */
export async function openObject(
  bucket: S3Bucket,
  { key, range, signal }: OpenObject,
): Promise<OpenedObject | undefined> {
  const headers = range && { range: `bytes=${range.first}-${range.last}` }
  const call = (direct: DirectS3, signal: AbortSignal) =>
    direct.open({ method: 'GET', key, headers, signal })
  const answer = await orMissing(bucket, { signal, call })
  if (answer === undefined) return undefined
  const { content } = answer
  try {
    const { length, size } = extentOf(answer.headers, range)
    if (content instanceof Uint8Array) return bufferedObject(assertLength(content, length), size)
    const body = createS3Body(content, { length, idleMs: bucket.deadlines.idleMs, signal })
    return { body, size, release: detachBuffer }
  } catch (error) {
    if (!(content instanceof Uint8Array)) content.destroy()
    throw storeError(error)
  }
}

function assertLength(content: Uint8Array, length: number): Uint8Array {
  if (content.byteLength === length) return content
  throw new Error(`The answer has ${content.byteLength} bytes in place of ${length}`)
}

const TOTAL = /\/(\d+)$/

/** How many bytes come, and how many the whole object has. */
function extentOf(
  headers: S3Headers,
  range: OpenObject['range'],
): { readonly length: number; readonly size: number } {
  const length = lengthIn(headers)
  if (range === undefined) return { length, size: length }
  const size = Number(TOTAL.exec(headers['content-range'] ?? '')?.[1])
  if (size > range.last && length === range.last - range.first + 1) return { length, size }
  throw new Error('The answer does not hold the range that was asked for')
}

function lengthIn({ 'content-length': length }: S3Headers): number {
  if (length === undefined) throw new Error('The answer states no length')
  return Number(length)
}

/** What the names of an object's metadata have before them as headers. */
export const META = 'x-amz-meta-'

function metadataIn(headers: S3Headers): ObjectHead['metadata'] {
  const kept = Object.entries(headers).filter(([name]) => name.startsWith(META))
  return Object.fromEntries(kept.map(([name, text = '']) => [name.slice(META.length), text]))
}
