import type { FileName } from '../files/file-name.ts'
import type { ObjectKey } from '../objects/object-key.ts'
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
