import { HeadBucketCommand, S3ServiceException } from '@aws-sdk/client-s3'
import { withDeadline } from '../deadline.ts'
import type { S3Bucket } from './bucket.ts'
import type { DirectS3 } from './client/client.ts'
import { storeError } from '../store-error.ts'

interface Call<T> {
  readonly signal: AbortSignal
  /** Gets a signal that aborts with `signal` or at the deadline, and never after the call has resolved. */
  readonly call: (direct: DirectS3, signal: AbortSignal) => Promise<T>
}

/**
 * Resolves as `call` does, or to `undefined` when the store says twice that the object is not there. Any other failure,
 * a missing bucket included, comes out as `storeError`. All of it is one call to whoever waits, with one deadline.
 *
 * A node of MinIO that has just come back denies for up to 15 s what was written while it was gone, when it has not
 * found the others yet. So the second time is over a connection of its own, which leads to another node.
 */
export async function orMissing<T>(
  bucket: S3Bucket,
  { signal, call }: Call<T>,
): Promise<T | undefined> {
  const deadline = { ms: bucket.deadlines.callMs, signal }
  try {
    return await withDeadline(deadline, (signal) => unlessMissing(bucket, { signal, call }))
  } catch (error) {
    throw storeError(error)
  }
}

async function unlessMissing<T>(
  bucket: S3Bucket,
  { signal, call }: Call<T>,
): Promise<T | undefined> {
  let denial: unknown
  for (const direct of [bucket.direct, bucket.unkept]) {
    try {
      return await call(direct, signal)
    } catch (error) {
      if (!hasName(error, 'NoSuchKey', 'NotFound')) throw error
      denial = error
    }
  }
  // An answer to HEAD has no body, so it cannot say whether the object or the bucket is missing.
  if (hasName(denial, 'NotFound')) await findBucket(bucket, signal)
  return undefined
}

/** Rejects with `storeError` unless the bucket is there and may be used. */
export async function findBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  const { client, name, deadlines } = bucket
  try {
    await withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
      client.send(new HeadBucketCommand({ Bucket: name }), { abortSignal }),
    )
  } catch (error) {
    throw storeError(error)
  }
}

/** Whether `error` is the store's own, by one of these names. */
export function hasName(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}
