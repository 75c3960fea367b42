import type { S3Client } from '@aws-sdk/client-s3'
import type { PartChecksums } from './parts/checksums.ts'
import type { DirectS3 } from './client/client.ts'

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
