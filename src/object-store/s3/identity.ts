import { withDeadline } from '../../core/async/deadline.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import {
  chunksOf,
  discardBody,
  IDENTITY_NAME,
  MAX_IDENTITY_BYTES,
  parseIdentity,
} from '../../core/objects/object-store.ts'
import { storeError } from '../store-error.ts'
import { hasName, type S3Bucket } from './bucket.ts'
import { openObject } from './get-object.ts'
import { CONTENT_TYPE } from './put-content.ts'

/** The one key of the service outside `users/`. */
const KEY = IDENTITY_NAME as ObjectKey

/** Implements the port's `readIdentity`. */
export async function readIdentity(
  bucket: S3Bucket,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const opened = await openObject(bucket, { key: KEY, signal })
    if (opened === undefined) return undefined
    if (opened.size > MAX_IDENTITY_BYTES) {
      discardBody(opened)
      return undefined
    }
    return parseIdentity(Buffer.concat(await Array.fromAsync(chunksOf(opened))))
  } catch (error) {
    const failure = storeError(error)
    // The latter is the answer to a HEAD of the bucket.
    if (hasName(failure.cause, 'NoSuchBucket', 'NotFound')) return undefined
    throw failure
  }
}

interface CreateIdentity {
  readonly identity: string
  readonly signal: AbortSignal
}

/** Implements the port's `createIdentity`, by a conditional write if the server has them. */
export async function createIdentity(
  bucket: S3Bucket,
  { identity, signal }: CreateIdentity,
): Promise<string> {
  try {
    await put(bucket, { identity, signal, headers: { 'if-none-match': '*' } }).catch(
      async (error: unknown) => {
        if (hasName(error, ...REFUSED)) await put(bucket, { identity, signal })
        else if (!hasName(error, ...TAKEN)) throw error
      },
    )
    const found = await readIdentity(bucket, signal)
    if (found === undefined) throw new Error(`The object ${IDENTITY_NAME} holds no identity`)
    return found
  } catch (error) {
    throw storeError(error)
  }
}

/** "Conditional writes" in the S3 guide: there is an object, or another write to the key runs. */
const TAKEN = ['PreconditionFailed', 'ConditionalRequestConflict'] as const

/** Of servers without conditional writes. */
const REFUSED = ['NotImplemented', 'InvalidArgument', 'InvalidRequest'] as const

async function put(
  { direct, deadlines }: S3Bucket,
  {
    identity,
    headers,
    signal,
  }: CreateIdentity & { readonly headers?: Readonly<Record<string, string>> },
): Promise<void> {
  const content = Buffer.from(`${identity}\n`)
  await withDeadline({ ms: deadlines.callMs, signal }, (signal) =>
    direct.send({
      method: 'PUT',
      key: KEY,
      headers: { 'content-type': CONTENT_TYPE, ...headers },
      body: { byteLength: content.byteLength, chunks: [content] },
      signal,
    }),
  )
}
