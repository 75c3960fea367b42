import type { S3Client } from '@aws-sdk/client-s3'

/** How long the store may take, in milliseconds, the SDK's repeats included. */
export interface S3Deadlines {
  /** A call that carries no content. */
  readonly callMs: number
  /** Sending one part, or a whole small object; more for parts above 8 MiB, in proportion. */
  readonly partMs: number
  /** Completing a multipart upload: the store may have to put its parts together. */
  readonly completeMs: number
  /** Silence in the middle of a download, while its reader wants bytes. */
  readonly idleMs: number
  /** Cleaning up after a put that failed, all calls together; its caller waits for it. */
  readonly cleanupMs: number
}

export const DEFAULT_DEADLINES: S3Deadlines = {
  callMs: 30_000,
  partMs: 60_000,
  completeMs: 120_000,
  idleMs: 60_000,
  cleanupMs: 5000,
}

/** One bucket and the way to it. */
export interface S3Bucket {
  readonly client: S3Client
  readonly name: string
  readonly deadlines: S3Deadlines
}
