import type { File, Visibility } from '../files/file.ts'
import type { Caller } from '../users/caller.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { Audience, FileOrder, FilePosition } from '../files/listing.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { Precondition } from '../files/precondition.ts'
import type { SweepLedger } from './sweep-ledger.ts'
import type { UserId, UserIdPrefix } from '../users/user-id.ts'
import type { Grant, User } from '../users/user-store.ts'

/** A user's figures at one moment, in bytes except `fileCount`. */
export interface Usage {
  /** Base capacity plus the grants in force, at most 2^53 - 1. */
  readonly capacity: number
  readonly used: number
  /** Reserved by uploads in progress, on top of `used`. */
  readonly reserved: number
  readonly fileCount: number
}

export interface Account {
  readonly user: User
  readonly usage: Usage
}

export interface AccountPage {
  readonly prefix: UserIdPrefix
  readonly after: UserId | undefined
  readonly limit: number
}

export interface CapacityReport {
  readonly usage: Usage
  readonly baseCapacity: number
  /** The grants in force, ordered by source and reference. */
  readonly grants: readonly Grant[]
}

export interface CheckBegin extends Caller {
  readonly name: FileName
  /** Size of the new file as far as it is known; 0 reserves nothing. */
  readonly bytes: number
  readonly maxFiles: number
  /** Maximum number of uploads in progress, including this one. */
  readonly maxUploads: number
  readonly precondition?: Precondition | undefined
}

export interface BeginUpload extends CheckBegin {
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly leaseMs: number
}

export interface RenewUpload {
  readonly version: Version
  readonly leaseMs: number
}

export interface ExtendUpload extends RenewUpload, Caller {
  readonly bytes: number
}

export interface AbortUpload {
  readonly userId: UserId
  readonly version: Version
  readonly expiredOnly?: boolean
  /** Nothing was or will be sent to the object store, so there is nothing to remove and no row is kept. */
  readonly isUntouched?: boolean
}

export interface CommitUpload extends Caller {
  readonly version: Version
  /** As reported by the object store. */
  readonly size: number
  readonly sha256: string
  /** `undefined` keeps the visibility of the replaced file; a new file is `private`. */
  readonly visibility: Visibility | undefined
  readonly maxFiles: number
  readonly precondition?: Precondition | undefined
  /** How long the replaced object is kept for readers that already found it. */
  readonly garbageDelayMs: number
}

export interface CommittedUpload {
  readonly file: File
  readonly replaced: boolean
  readonly usage: Usage
}

export interface DeleteFile extends Caller {
  readonly name: FileName
  readonly precondition?: Precondition | undefined
  readonly garbageDelayMs: number
}

export interface UpdateFile extends DeleteFile {
  /** `undefined` keeps the name; the same holds for `visibility`. */
  readonly newName: FileName | undefined
  readonly visibility: Visibility | undefined
  readonly overwrite: boolean
}

export interface FindFile {
  readonly userId: UserId
  /** If set, a user created at another time counts as unknown. */
  readonly userCreatedAt?: number | undefined
  readonly name: FileName
  readonly audience: Audience
}

export interface ListFiles {
  readonly userId: UserId
  readonly userCreatedAt?: number | undefined
  readonly audience: Audience
  readonly prefix: FileNamePrefix
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  readonly limit: number
}

export type UploadOutcome = 'aborted' | 'committed'

/**
 * PORT: everything that must be atomic. Each method is one short transaction or statement. Uploads may share a
 * transaction, but a refused method undoes none of the others. A transaction contains only SQL; it never waits for a
 * body or the network (I6). All times come from the database's clock, so instances with skewed clocks agree.
 *
 * Every method rejects with `unavailable` (driver's error as `cause`) when the database fails or times out. `commit`
 * then has an unknown outcome, which `abort` settles. Busy errors, serialization failures and deadlocks are retried.
 *
 * Methods that take a `Caller` reject first with `access_token_invalid` for a missing user, then with `user_suspended`.
 * They compare the creation time under the user's lock: a later user of the same id counts as missing.
 */
export interface Ledger extends SweepLedger {
  /**
   * Guarantees that the journal has the upload's key and its growth is reserved, or that nothing has changed. Growth is
   * `bytes` minus the size of the replaced file, at least 0. It is accepted if 0, or if used + reserved + growth is at
   * most the capacity. The `WHERE` of the reserving `UPDATE` tests this, so concurrent instances never reserve a byte
   * twice (I5). The same lock limits the pending uploads with a running lease to `maxUploads`; an expired one counts
   * again when renewed. The same `WHERE` bounds the user's garbage (core/quota/README.md).
   *
   * Rejects, in this order: `precondition_failed`, `too_many_requests` (for garbage, `retry_after` lasts until the
   * oldest is due), `file_count_exceeded`, `capacity_exceeded` (facts `capacity, used, reserved, requested,
   * available`).
   */
  begin(upload: BeginUpload): Promise<void>

  /**
   * Guarantees a reservation of `bytes` in total (it never shrinks) and a lease of `leaseMs` from now, or changes
   * nothing. Rejects with `capacity_exceeded`, and with `unavailable` when no longer pending: the caller must stop.
   */
  extend(upload: ExtendUpload): Promise<void>

  /** Guarantees a lease of `leaseMs` from now. Rejects with `unavailable` when the upload is no longer pending. */
  renew(upload: RenewUpload): Promise<void>

  /**
   * Guarantees that the file is visible and durable with exactly these bytes, the replaced object is garbage and the
   * figures are updated; or that nothing has changed and the upload is still pending (unless it was lost).
   *
   * A compare-and-set moves the upload to committed; exactly one of `commit` and `abort` wins. Under the user's lock it
   * repeats the tests of `begin` against the current file of that name. It accepts a `size` up to that file's, or one
   * with used - old + size <= capacity that leaves other reservations untouched. Rejects as `begin` does, and with
   * `unavailable` when the upload is no longer pending. Repeating a successful call returns the same file. A user with
   * an upload in the journal is not purged, so `commit` never meets the next user of the id.
   */
  commit(upload: CommitUpload): Promise<CommittedUpload>

  /**
   * Guarantees a final outcome, after any running commit: `committed` if that won, else `aborted` (also for an unknown
   * upload), the reservation released exactly once. `undefined` if `expiredOnly` spared a running lease.
   */
  abort(upload: AbortUpload): Promise<UploadOutcome | undefined>

  /** Guarantees that the file is gone and its object garbage, or rejects: `not_found`, then `precondition_failed`. */
  deleteFile(file: DeleteFile): Promise<void>

  /**
   * Guarantees the new name and visibility, or changes nothing. Keeps version, object and `createdAt`, moves
   * `updatedAt`. With `overwrite`, atomically removes another file of the new name; without it, rejects with
   * `file_exists`. Rejects first as `deleteFile` does.
   */
  updateFile(change: UpdateFile): Promise<File>

  /**
   * A file that is not created, removed or moved while a client reads page after page is listed exactly once. The cost
   * of a page does not depend on the number of files, except that a prefix ordered other than by name scans the
   * matching files, once for all pages. Empty for a user who is unknown, suspended or deleted.
   */
  listFiles(page: ListFiles): Promise<readonly File[]>

  /** The database's clock, ms since 1970. After a write has found the disk full, rejects until a trial write succeeds. */
  check(): Promise<number>

  /** The file if the audience may see it. Files of suspended and deleted users are not found. */
  findFile(file: FindFile): Promise<File | undefined>

  /** Rejects as `begin` would at this moment, and reserves nothing. */
  checkBegin(upload: CheckBegin): Promise<void>

  /** A user of any status with their figures, read in one statement; `undefined` for an unknown user. */
  findAccount(userId: UserId): Promise<Account | undefined>

  /** Users of any status, bytewise by id, read in one statement. */
  listAccounts(page: AccountPage): Promise<readonly Account[]>

  /** Read in one statement; `undefined` for a user who is unknown, deleted or created at another time. */
  reportCapacity(userId: UserId, userCreatedAt?: number): Promise<CapacityReport | undefined>
}
