import type { FileName } from '../files/file-name.ts'
import { FIGURES, type Inventory } from './inventory.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'
import type { ResumableLedger } from '../resumable/resumable-ledger.ts'

/** Closed list of what `verify` can find (docs/backup.md, "Verifying"). */
export const FINDING_KINDS = [
  // `quotas` against a recount of `files`, `history`, pending `uploads` and `garbage`.
  ...FIGURES,
  // `device_usage` against `files`; `found` is the number of devices.
  'device_usage',
  'missing_quota',
  'stray_quota',
  // The row of a file or a past version against its object.
  'missing_object',
  'wrong_size',
  'wrong_digest',
  'unreadable_object',
  // The record of an unfinished upload against the store.
  'broken_upload',
  // Objects that nothing refers to.
  'orphaned_object',
  'foreign_object',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** What the database records, and what was found instead. */
export interface Difference {
  readonly kind: FindingKind
  readonly recorded?: number | string
  readonly found?: number | string
}

export interface Finding extends Difference {
  readonly userId?: UserId | undefined
  readonly name?: FileName
  readonly objectKey?: ObjectKey
  readonly repaired: boolean
}

export interface VerifierOptions {
  readonly inventory: Inventory
  readonly ledger: UploadLedger & ResumableLedger
  readonly objects: ObjectStore
}

export interface VerifyRequest {
  /** `undefined`: all users, and objects of unknown users. */
  readonly userId: UserId | undefined
  /** Repairs what can be repaired without loss; if false, nothing is written. */
  readonly repair: boolean
  /** Reads one file in this many at random and compares its digest; 1 reads all, `undefined` none. */
  readonly readOneIn: number | undefined
  /** Called with each finding; none is kept. */
  readonly onFinding: (finding: Finding) => void
  /** Called for each page and each user, with the figures so far. */
  readonly onProgress?: (verification: Verification) => void
  readonly signal: AbortSignal
}

export interface Verification {
  users: number
  files: number
  objects: number
  /** Unfinished resumable uploads. */
  uploads: number
  readFiles: number
  readBytes: number
  /** The number of findings by kind, without those that this run repaired. */
  readonly remaining: Record<FindingKind, number>
  repaired: number
}

export interface VerifyRun extends VerifierOptions, VerifyRequest {
  readonly verification: Verification
  readonly report: (finding: Finding) => void
}

export function startRun(options: VerifierOptions, request: VerifyRequest): VerifyRun {
  const none = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0]))
  const verification: Verification = {
    users: 0,
    files: 0,
    objects: 0,
    uploads: 0,
    readFiles: 0,
    readBytes: 0,
    remaining: none as Record<FindingKind, number>,
    repaired: 0,
  }
  const report = (finding: Finding): void => {
    if (finding.repaired) verification.repaired += 1
    else verification.remaining[finding.kind] += 1
    request.onFinding(finding)
  }
  return { ...options, ...request, verification, report }
}
