import type { FileName } from '../files/file-name.ts'
import type { Inventory } from './inventory.ts'
import type { ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'

/** The closed list of what `verify` can find (docs/backup.md, "Verifying"). */
export const FINDING_KINDS = [
  // What `quotas` records of a user against a recount of `files`, of pending `uploads` and of `garbage`.
  'used_bytes',
  'reserved_bytes',
  'file_count',
  'garbage_bytes',
  'missing_quota',
  'stray_quota',
  // What a file's row records against its object.
  'missing_object',
  'wrong_size',
  'wrong_digest',
  'unreadable_object',
  // Objects that nothing refers to.
  'orphaned_object',
  'foreign_object',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** One difference between what is recorded and what there is. */
export interface Finding {
  readonly kind: FindingKind
  readonly userId?: UserId
  readonly name?: FileName
  readonly objectKey?: ObjectKey
  /** What the row says: bytes, a count, or a SHA-256. */
  readonly recorded?: number | string
  /** What there is. */
  readonly found?: number | string
  /** Whether this run has mended it. */
  readonly repaired: boolean
}

export interface VerifierOptions {
  readonly inventory: Inventory
  readonly objects: ObjectStore
  /** How long an orphan that was handed to garbage is kept, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface VerifyRequest {
  /** One user, or all, and the objects of users that nobody knows, when `undefined`. */
  readonly userId: UserId | undefined
  /** Mends what can be mended without loss; without it nothing is written. */
  readonly repair: boolean
  /** Reads one file in so many, chosen at random, and compares its digest; 1 reads all, `undefined` none. */
  readonly readOneIn: number | undefined
  /** Called with every finding as it is made; none is kept. */
  readonly onFinding: (finding: Finding) => void
  /** Called often, with the figures so far. */
  readonly onProgress?: (verification: Verification) => void
  readonly signal: AbortSignal
}

/** What a run has looked at and found. */
export interface Verification {
  users: number
  files: number
  objects: number
  /** Files whose content was read, and its bytes. */
  readFiles: number
  readBytes: number
  /** By kind, those that this run mended not included. */
  readonly remaining: Record<FindingKind, number>
  repaired: number
}

/** What one run works with; its parts report to it. */
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
