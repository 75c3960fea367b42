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

/** Time limits in milliseconds, including the SDK's retries. */
export interface S3Deadlines {
  /** A call without content. */
  readonly callMs: number
  /** A put of 8 MiB; proportional to the size, but at least `callMs`. */
  readonly putMs: number
  /** One part of up to 8 MiB, beside three others: four times `putMs`. Proportionally more for larger parts. */
  readonly partMs: number
  /** Completing a multipart upload; the store may have to assemble the parts. */
  readonly completeMs: number
  /** Silence during a download while the reader wants bytes. */
  readonly idleMs: number
  /** After a failed put, the wait for its parts in flight; then all cleanup calls together. The caller waits for both. */
  readonly cleanupMs: number
  /** The wait before another look for what a cluster node denies: as long as the node may take to find its peers. */
  readonly secondLookMs: number
}

/** On a silent store, one-request uploads end within 45 s, cleanup in `core` included. 336 kB/s is enough. */
export const DEFAULT_DEADLINES: S3Deadlines = {
  callMs: 10_000,
  putMs: 25_000,
  partMs: 100_000,
  completeMs: 120_000,
  idleMs: 30_000,
  cleanupMs: 3000,
  secondLookMs: 500,
}

/** What a call by the SDK needs. */
export interface CalledBucket {
  readonly client: S3Client
  readonly deadlines: S3Deadlines
}

export interface S3Bucket extends CalledBucket {
  readonly direct: DirectS3
  readonly checksums: PartChecksums
  readonly name: string
}

interface Call<I extends ServiceInputTypes, O extends ServiceOutputTypes> {
  readonly command: $Command<I, O, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>
  readonly signal: AbortSignal
}

export function callS3<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  { client, deadlines }: CalledBucket,
  { command, signal }: Call<I, O>,
): Promise<O> {
  return withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
    client.send(command, { abortSignal }),
  )
}

export async function findBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  const command = new HeadBucketCommand({ Bucket: bucket.name })
  await translated(callS3(bucket, { command, signal }))
}

export function hasName(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}

/** `NotFound` comes with answers without a body, and can also mean that the bucket is missing. */
export function isMissing(error: unknown): boolean {
  return hasName(error, 'NoSuchKey', 'NotFound')
}
