import { createHash } from 'node:crypto'
import { withDeadline } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { NamedObject } from '../../core/objects/object-key.ts'
import { DEFAULT_PART_SIZE } from './part-size.ts'
import type { S3Bucket } from './bucket.ts'
import { headObject, META } from './get-object.ts'
import type { PartContent } from './parts.ts'

export const CONTENT_TYPE = 'application/octet-stream'

export interface PutContent extends NamedObject {
  readonly metadata: NonNullable<PutObject['metadata']>
  readonly content: PartContent
  /** Of the content, in hexadecimal; computed if omitted. */
  readonly sha256?: string | undefined
}

export interface PutAnswer {
  /** Empty if the answer was lost, but the store has the object. */
  readonly etag: string
  /** Whether the store has confirmed the content or its size. */
  readonly isConfirmed: boolean
}

/** Stores an object by one request. The caller gives the content back. */
export async function putContent(bucket: S3Bucket, object: PutContent): Promise<PutAnswer> {
  const { key, metadata, content: body, sha256 } = object
  const { direct, deadlines } = bucket
  const headers: Record<string, string> = { 'content-type': CONTENT_TYPE }
  for (const [name, text] of Object.entries(metadata)) headers[META + name] = text
  const etag = await callOrFind(bucket, object, {
    ms: Math.max(deadlines.callMs, (deadlines.putMs * body.byteLength) / DEFAULT_PART_SIZE),
    call: async (signal) => {
      const { headers: stated } = await direct.send({
        method: 'PUT',
        key,
        headers,
        body,
        sha256,
        signal,
      })
      return stated['etag']
    },
  })
  if (etag !== undefined) return { etag, isConfirmed: isMd5(etag, body) }
  await assertStored(bucket, { key, signal: object.signal, size: body.byteLength })
  return { etag: '', isConfirmed: true }
}

/** Up to this size, a digest costs less than asking the store for the object's size. */
const MAX_DIGESTED_BYTES = 64 * 1024

/**
 * Whether the ETag confirms the content. It is the content's MD5 unless the store encrypts with its own key ("Object"
 * in the S3 API reference).
 */
function isMd5(etag: string, { byteLength, chunks }: PartContent): boolean {
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

interface LastCall {
  readonly ms: number
  readonly call: (signal: AbortSignal) => Promise<string | undefined>
}

/**
 * Resolves to the ETag of the object that `call` makes, or to `undefined` if the call failed but an object, of any
 * size, exists. Otherwise rejects with the call's failure.
 */
export async function callOrFind(
  bucket: S3Bucket,
  { key, signal }: NamedObject,
  { ms, call }: LastCall,
): Promise<string | undefined> {
  let etag: string | undefined
  try {
    etag = await withDeadline({ ms, signal }, call)
  } catch (error) {
    if (signal.aborted) throw error
    const found = await headObject(bucket, { key, signal }).catch(() => undefined)
    if (found === undefined) throw error
    return undefined
  }
  // The SDK can take an error after the status line for success, but then there is no ETag.
  if (etag === undefined) throw new Error('The store confirmed the object without an ETag')
  return etag
}

/** Rejects unless the store has the object with this size. */
export async function assertStored(
  bucket: S3Bucket,
  { key, signal, size }: NamedObject & { readonly size: number },
): Promise<void> {
  const found = await headObject(bucket, { key, signal })
  if (found?.size !== size) {
    throw new Error(`${size} bytes were sent, the store states ${found?.size}`)
  }
}
