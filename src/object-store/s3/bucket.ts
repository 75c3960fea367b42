import {
  type $Command,
  HeadBucketCommand,
  type S3Client,
  type S3ClientResolvedConfig,
  S3ServiceException,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3'
import { withDeadline } from '../../core/async/deadline.ts'
import { translated } from '../store-error.ts'
import type { PartChecksums } from './checksums.ts'
import type { DirectS3 } from './client.ts'

/** How long the store may take, in milliseconds, the SDK's repeats included. */
export interface S3Deadlines {
  /** A call that carries no content. */
  readonly callMs: number
  /** Sending an object of 8 MiB whole; for other sizes in proportion, but never less than `callMs`. */
  readonly putMs: number
  /** Sending one part of a larger object, which shares the way with three others: four times `putMs`; more for parts above 8 MiB, in proportion. */
  readonly partMs: number
  /** Completing a multipart upload: the store may have to put its parts together. */
  readonly completeMs: number
  /** Silence in the middle of a download, while its reader wants bytes. */
  readonly idleMs: number
  /** Cleaning up after a put that failed, all calls together; its caller waits for it. */
  readonly cleanupMs: number
}

/**
 * A store that falls silent is given up within 45 s by whatever needs one request: sending, looking for what was sent,
 * and cleaning up, here and in `core/uploads/upload.ts`. One that takes 336 kB/s is slow, but works.
 */
export const DEFAULT_DEADLINES: S3Deadlines = {
  callMs: 10_000,
  putMs: 25_000,
  partMs: 100_000,
  completeMs: 120_000,
  idleMs: 30_000,
  cleanupMs: 3000,
}

/** One bucket and the way to it. */
export interface S3Bucket {
  readonly client: S3Client
  /** For what every upload and download needs. */
  readonly direct: DirectS3
  /** Connects anew for each request, so that a balancer before a cluster gives it to the next node. */
  readonly unkept: DirectS3
  readonly checksums: PartChecksums
  readonly name: string
  readonly deadlines: S3Deadlines
}

interface Call<I extends ServiceInputTypes, O extends ServiceOutputTypes> {
  readonly command: $Command<I, O, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>
  readonly signal: AbortSignal
}

/** A call that carries no content, by way of the SDK, within its deadline. */
export function callS3<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  { client, deadlines }: Pick<S3Bucket, 'client' | 'deadlines'>,
  { command, signal }: Call<I, O>,
): Promise<O> {
  return withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
    client.send(command, { abortSignal }),
  )
}

/** Rejects with `storeError` unless the bucket is there and may be used. */
export async function findBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  const command = new HeadBucketCommand({ Bucket: bucket.name })
  await translated(callS3(bucket, { command, signal }))
}

/** Whether `error` is the store's own, by one of these names. */
export function hasName(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}

/** Whether `error` says that there is no such object; of an answer without a body, or no such bucket. */
export function isMissing(error: unknown): boolean {
  return hasName(error, 'NoSuchKey', 'NotFound')
}
