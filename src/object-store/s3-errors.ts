import { HeadBucketCommand, S3ServiceException } from '@aws-sdk/client-s3'
import { withDeadline } from './deadline.ts'
import type { S3Bucket } from './s3-bucket.ts'
import { unavailable } from './unavailable.ts'

/**
 * Resolves as `call` does, or to `undefined` when the store says that the object is not there. Any other failure,
 * a missing bucket included, comes out as `unavailable`.
 */
export async function orMissing<T>(
  bucket: S3Bucket,
  { signal, call }: { readonly signal: AbortSignal; readonly call: () => Promise<T> },
): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (hasName(error, 'NoSuchKey')) return undefined
    // An answer to HEAD has no body, so it cannot say whether the object or the bucket is missing.
    if (hasName(error, 'NotFound')) {
      await findBucket(bucket, signal)
      return undefined
    }
    throw unavailable(error)
  }
}

/** Rejects with `unavailable` unless the bucket is there and may be used. */
export async function findBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  const { client, name, deadlines } = bucket
  try {
    await withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
      client.send(new HeadBucketCommand({ Bucket: name }), { abortSignal }),
    )
  } catch (error) {
    throw unavailable(error)
  }
}

/** Whether `error` is the store's own, by one of these names. */
export function hasName(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}
