import { RETENTION_MS } from '../../core/sweep/sweep-ledger.ts'
import { LEASE_MS } from '../../core/uploads/upload-ledger.ts'

const UPLOAD_LIFETIME_MS = 24 * 60 * 60_000

/** How long the ledger keeps what ends by itself, and what is no longer in use, in milliseconds. */
export interface LedgerTimes {
  /** Uploads, from their last renewal. */
  readonly leaseMs: number
  /** Resumable uploads, from their last progress. */
  readonly uploadLifetimeMs: number
  /** The objects of replaced and deleted files: longer than a download takes to open the object that it has found. */
  readonly garbageDelayMs: number
  /**
   * What ended uploads have left: several times the longest possible request to the object store
   * (`object-store/s3/bucket.ts`).
   */
  readonly retentionMs: number
  /** The objects of deleted users; by default the longer of the two above: a recent commit may have repeated its write. */
  readonly purgeDelayMs: number
}

/** The times that differ from the defaults: `LEASE_MS`, `UPLOAD_LIFETIME_MS` and `RETENTION_MS`. */
export type OwnTimes = { readonly [T in keyof LedgerTimes]?: LedgerTimes[T] | undefined }

export function timesOf(own: OwnTimes = {}): LedgerTimes {
  const { leaseMs = LEASE_MS, uploadLifetimeMs = UPLOAD_LIFETIME_MS } = own
  const { garbageDelayMs = RETENTION_MS, retentionMs = RETENTION_MS } = own
  const { purgeDelayMs = Math.max(garbageDelayMs, retentionMs) } = own
  return { leaseMs, uploadLifetimeMs, garbageDelayMs, retentionMs, purgeDelayMs }
}
