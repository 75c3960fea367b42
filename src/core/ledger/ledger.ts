import type { File, Visibility } from '../files/file.ts'
import type { Caller } from '../users/caller.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { Audience, FileOrder, FilePosition, ListedFiles } from '../files/listing.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { Precondition } from '../files/precondition.ts'
import type { SweepLedger } from './sweep-ledger.ts'
import type { ResumableLedger } from '../uploads/resumable/resumable-ledger.ts'
import type { UserId, UserIdPrefix } from '../users/user-id.ts'
import type { Grant, User } from '../users/user-store.ts'

/** A user's figures at one moment, in bytes except `fileCount`. */
export interface Usage {
  /** Base capacity plus the current grants, at most 2^53 - 1. */
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
  /** The current grants, ordered by source and reference. */
  readonly grants: readonly Grant[]
}

export interface CheckBegin extends Caller {
  readonly name: FileName
  /** The part of the new file's size that is known so far; 0 reserves nothing. */
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
  /** Keep no row and remove no object, because nothing was or will be sent to the store, or the object must stay. */
  readonly isUntouched?: boolean
  /** How a resumable upload ended; `expired` if omitted. */
  readonly endedAs?: 'cancelled' | 'lost'
}

export interface CommitUpload extends Caller {
  readonly version: Version
  /** Size in bytes, as reported by the object store. */
  readonly size: number
  readonly sha256: string
  /** `undefined` keeps the visibility of the replaced file; a new file is `private`. */
  readonly visibility: Visibility | undefined
  readonly maxFiles: number
  readonly precondition?: Precondition | undefined
  /** How long the replaced object is kept for readers that have already found it. */
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
  /** How many of the files that the audience may see are looked at, at most. */
  readonly maxScanned: number
}

/** `forgotten`: as `aborted`, but nothing was sent to the store, so nothing is kept or has to be removed. */
export type UploadOutcome = 'aborted' | 'forgotten' | 'committed'

/**
 * PORT: all operations that must be atomic. Each method is one short transaction or statement. Uploads may share a
 * transaction, but a refused call rolls back none of the others. A transaction contains only SQL; it never waits for a
 * body or the network (I6). All times come from the database's clock, so instances with skewed clocks agree.
 *
 * Every method rejects with `unavailable` (driver's error as `cause`) if the database fails or times out. The outcome
 * of a `commit` is then unknown until `abort` determines it. Busy errors, serialization failures and deadlocks are
 * retried.
 *
 * Methods that take a `Caller` reject first with `access_token_invalid` for a missing user, then with `user_suspended`.
 * They compare the creation time under the user's lock, so a later user with the same id counts as missing.
 */
export interface Ledger extends SweepLedger, ResumableLedger {
  /**
   * Atomic: either the journal has the upload's key and the growth is reserved, or nothing has changed. Growth is
   * `bytes` minus the size of the replaced file, at least 0. It is accepted if it is 0, or if used + reserved + growth
   * is at most the capacity. The `WHERE` of the reserving `UPDATE` checks this, so concurrent instances never reserve a
   * byte twice (I5). Under the same lock, pending uploads with a running lease are limited to `maxUploads`; an expired
   * one counts again when its lease is renewed, and a resumable one counts only while a request holds it. The same
   * `WHERE` bounds the user's garbage (core/quota/README.md).
   *
   * Rejects, in this order, with: `precondition_failed`, `too_many_requests` (for garbage, with a `retry_after` until
   * the oldest is due), `file_count_exceeded`, `capacity_exceeded` (facts
   * `capacity, used, reserved, requested, available`).
   */
  begin(upload: BeginUpload): Promise<void>

  /**
   * Guarantees a reservation of `bytes` in total (it never shrinks) and a lease of `leaseMs` from now, or changes
   * nothing. Rejects with `capacity_exceeded`. Rejects with `unavailable` if the upload is no longer pending; the
   * caller must then stop.
   */
  extend(upload: ExtendUpload): Promise<void>

  /** Guarantees a lease of `leaseMs` from now. Rejects with `unavailable` if the upload is no longer pending. */
  renew(upload: RenewUpload): Promise<void>

  /**
   * Atomic: either the file is visible and durable with exactly these bytes, the replaced object is garbage and the
   * figures are updated; or nothing has changed and the upload is still pending (unless it was aborted meanwhile).
   *
   * A compare-and-set moves the upload to committed; exactly one of `commit` and `abort` wins. Under the user's lock,
   * the checks of `begin` are repeated against the current file of that name. A `size` is accepted if it is at most
   * that file's, or if used - old + size <= capacity and other reservations stay untouched. Rejects as `begin` does,
   * and with `unavailable` if the upload is no longer pending. Repeating a successful call returns the same file. A
   * user with an upload in the journal is not purged, so `commit` never sees a later user with the same id.
   */
  commit(upload: CommitUpload): Promise<CommittedUpload>

  /**
   * Guarantees a final outcome, after any running commit: `committed` if the commit won, otherwise `aborted` (also for
   * an unknown upload), or `forgotten` for an untouched upload and a resumable one that no append has claimed. The
   * reservation is released exactly once. An aborted upload counts as the user's garbage until its row is deleted.
   * Resolves to `undefined` if `expiredOnly` is set and the lease is still running.
   */
  abort(upload: AbortUpload): Promise<UploadOutcome | undefined>

  /**
   * Guarantees that the file is deleted and its object is garbage. Rejects with `not_found`, then
   * `precondition_failed`.
   */
  deleteFile(file: DeleteFile): Promise<void>

  /**
   * Guarantees the new name and visibility, or changes nothing. Keeps version, object and `createdAt`, and updates
   * `updatedAt`. If another file has the new name: removes that file atomically if `overwrite` is set, else rejects
   * with `file_exists`. Before that, rejects as `deleteFile` does.
   */
  updateFile(change: UpdateFile): Promise<File>

  /**
   * Guarantees that a file which is not created, removed or moved while a client reads page after page is listed
   * exactly once. The cost of a page does not depend on the number of files: a listing with a prefix in any order other
   * than by name scans the files in that order, at most `maxScanned` for a page. Empty for a user who is unknown,
   * suspended or deleted.
   */
  listFiles(page: ListFiles): Promise<ListedFiles>

  /**
   * The database's clock, ms since 1970. After a write has failed because the disk is full, rejects until a test write
   * succeeds.
   */
  check(): Promise<number>

  /** The file if the audience may see it. Files of suspended and deleted users are not found. */
  findFile(file: FindFile): Promise<File | undefined>

  /**
   * Guarantees that everything that methods have returned before the call is as durable as a commit of this process.
   * After a crash, a database with a synchronous standby can show changes that a failover undoes. Refusals of all
   * methods are confirmed already. What a method that changes nothing has returned must be confirmed, in this order,
   * before a client is told something that it takes for an acknowledgement: an offset, or that a file is stored or an
   * upload has ended. Reads of files, listings and figures acknowledge nothing (docs/storage.md).
   */
  confirm(): Promise<void>

  /** Rejects as `begin` would at this moment, and reserves nothing. */
  checkBegin(upload: CheckBegin): Promise<void>

  /** A user of any status with their figures, read in one statement; `undefined` for an unknown user. */
  findAccount(userId: UserId): Promise<Account | undefined>

  /** Users of any status, in bytewise order of ids, read in one statement. */
  listAccounts(page: AccountPage): Promise<readonly Account[]>

  /**
   * The user's capacity and grants, read in one statement; `undefined` for a user who is unknown, deleted or created at
   * another time.
   */
  reportCapacity(userId: UserId, userCreatedAt?: number): Promise<CapacityReport | undefined>
}
