import type { File, Visibility } from '../files/file.ts'
import type { Caller } from '../users/caller.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { Audience, FileOrder, FilePosition } from '../files/listing.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { Precondition } from '../files/precondition.ts'
import type { SweepLedger } from './sweep-ledger.ts'
import type { UserId, UserIdPrefix } from '../users/user-id.ts'
import type { Grant, User } from '../users/user-store.ts'

/** A user's figures, in bytes but for the count, read in one statement so that they belong together. */
export interface Usage {
  /** Sum of the grants in force now, at most 2^53 - 1. */
  readonly capacity: number
  /** Sum of the sizes of the current files. */
  readonly used: number
  /** What uploads under way have reserved beyond `used`. */
  readonly reserved: number
  readonly fileCount: number
}

/** A user with the figures of one moment. */
export interface Account {
  readonly user: User
  readonly usage: Usage
}

/** Up to `limit` users after `after` whose ids begin with `prefix`, bytewise. */
export interface AccountPage {
  readonly prefix: UserIdPrefix
  readonly after: UserId | undefined
  readonly limit: number
}

/** What a user's capacity is made of at one moment. */
export interface CapacityReport {
  readonly usage: Usage
  /** What every user has without any grant, in bytes. */
  readonly baseCapacity: number
  /** The grants in force, by source and reference. With the base they add up to the capacity, up to 2^53 - 1. */
  readonly grants: readonly Grant[]
}

/** What decides whether an upload may begin. */
export interface CheckBegin extends Caller {
  readonly name: FileName
  /** Size of the file to come, or what is known of it so far; 0 reserves nothing. */
  readonly bytes: number
  /** Files that the user may have. */
  readonly maxFiles: number
  /** Uploads that the user may have under way, this one included. */
  readonly maxUploads: number
  readonly precondition?: Precondition | undefined
}

export interface BeginUpload extends CheckBegin {
  readonly version: Version
  readonly objectKey: ObjectKey
  /** How long the reservation stands without `extend` or `renew`, in milliseconds. */
  readonly leaseMs: number
}

export interface RenewUpload {
  readonly version: Version
  readonly leaseMs: number
}

export interface ExtendUpload extends RenewUpload, Caller {
  /** Size of the file as far as it is known. */
  readonly bytes: number
}

export interface AbortUpload {
  readonly userId: UserId
  readonly version: Version
  /** Whether to leave alone an upload whose lease still runs. */
  readonly expiredOnly?: boolean
  /** Whether the object store has been sent nothing of it, nor will be: then there is nothing to remove, and nothing is kept. */
  readonly isUntouched?: boolean
}

export interface CommitUpload extends Caller {
  readonly version: Version
  /** Bytes the object store holds. */
  readonly size: number
  readonly sha256: string
  /** `undefined` keeps that of the file being replaced, and is `private` for a new one. */
  readonly visibility: Visibility | undefined
  readonly maxFiles: number
  readonly precondition?: Precondition | undefined
  /** How long the replaced object is kept for readers that found it before, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface CommittedUpload {
  readonly file: File
  readonly replaced: boolean
  readonly usage: Usage
}

export interface RemoveFile extends Caller {
  readonly name: FileName
  readonly precondition?: Precondition | undefined
  /** How long the object is kept for readers that found it before, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface ChangeFile extends RemoveFile {
  /** Stays as it is when `undefined`, as does the visibility. */
  readonly newName: FileName | undefined
  readonly visibility: Visibility | undefined
  /** Whether another file of the new name is replaced. */
  readonly overwrite: boolean
}

export interface FindFile {
  readonly userId: UserId
  /** Finds nothing of a user of that id who was created at another time. */
  readonly userCreatedAt?: number | undefined
  readonly name: FileName
  readonly audience: Audience
}

export interface ListFiles {
  readonly userId: UserId
  /** Lists nothing of a user of that id who was created at another time. */
  readonly userCreatedAt?: number | undefined
  readonly audience: Audience
  readonly prefix: FileNamePrefix
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  readonly limit: number
}

/** What `abort` found or made of an upload. */
export type UploadOutcome = 'aborted' | 'committed'

/**
 * PORT: everything that must be atomic. One method is one short transaction (or one statement), its own or one that uploads
 * share; what one is refused undoes none of the others. Nothing but SQL happens inside it, and none is held while a body or
 * the network is awaited (I6). All times are taken from the database's clock, so that instances with skewed clocks agree.
 *
 * Every method rejects with `AppError` `unavailable` (driver's error as `cause`) when the database fails or
 * does not answer in time. For `commit` that means *unknown*: settle it with `abort`.
 * Transactions that the database itself asks to repeat (busy, serialization failure, deadlock) are repeated.
 *
 * What changes files is asked for by a `Caller`, whose creation is compared under the user's lock: a user of the same id who
 * was created at another time is another user, and for the caller the same as none.
 */
export interface Ledger extends SweepLedger {
  /**
   * Guarantees that the upload's key stands in the journal and that its growth is reserved, or that nothing
   * has changed. The growth is `bytes` less the size of the file it will replace, at least 0; it is accepted
   * when it is 0 or when used + reserved + growth <= capacity. That test is the `WHERE` of the `UPDATE` that
   * reserves, so any number of instances can call it at once and never promise a byte twice (I5).
   *
   * Under the same lock it counts the user's pending uploads whose lease still runs, so that of any number of calls
   * exactly `maxUploads` are let in at a time. One whose lease has ended counts no more, unless it is renewed.
   *
   * What the user's replaced and deleted objects hold is bounded in the same `WHERE`: ARCHITECTURE.md, "Garbage",
   * says how. The refusal is `too_many_requests`, whose `retry_after` says when the oldest of them may be removed.
   *
   * Rejects, in this order: `access_token_invalid` when the user is gone, `user_suspended`, `precondition_failed`,
   * `too_many_requests`, `file_count_exceeded`, `capacity_exceeded` with the facts `capacity, used, reserved,
   * requested, available`.
   */
  begin(upload: BeginUpload): Promise<void>

  /**
   * Guarantees that the reservation covers a file of `bytes` in all (never less than before) and runs `leaseMs`
   * from now, or changes nothing. Rejects with `capacity_exceeded` as `begin` does, and with `unavailable` when
   * the upload is no longer pending: the sweeper took it, and the caller must stop. Where the user was suspended or
   * deleted meanwhile it says that instead, as `commit` does.
   */
  extend(upload: ExtendUpload): Promise<void>

  /** Guarantees a lease of `leaseMs` from now. Rejects with `unavailable` when the upload is no longer pending. */
  renew(upload: RenewUpload): Promise<void>

  /**
   * Guarantees that the file is visible and durable with exactly these bytes, the replaced object is garbage, and
   * the figures have moved; or that nothing has changed and the upload is still pending (unless it was lost).
   *
   * It moves the upload from pending to committed by compare-and-set; of `commit` and `abort` exactly one wins.
   * Under the user's lock it tests again what `begin` tested, against the file of that name that there is *now*:
   * accepted when `size` is not above it; or when used - old + size <= capacity, and what it needs beyond its own
   * reservation leaves the reservations of others untouched. Rejects as `begin` does, and with `unavailable` when
   * the upload is no longer pending. While the journal has the upload its user is not purged, so `commit` never meets the
   * next user of the id; it compares the creation all the same. Calling it again after it succeeded returns the same file.
   */
  commit(upload: CommitUpload): Promise<CommittedUpload>

  /**
   * Guarantees that the upload is settled, and says how: `aborted` when it was pending (its reservation is
   * released exactly once), already aborted or unknown; `committed` when the commit had won. It waits for a
   * commit that is still running, so its answer is final. With `expiredOnly` a pending upload whose lease still
   * runs is left alone and answered with `undefined`.
   */
  abort(upload: AbortUpload): Promise<UploadOutcome | undefined>

  /**
   * Guarantees that the file is gone, its bytes are free again and its object is garbage; or changes nothing.
   * Rejects, in this order: `access_token_invalid` when the user is gone, `user_suspended`, `not_found`,
   * `precondition_failed`.
   */
  removeFile(file: RemoveFile): Promise<void>

  /**
   * Guarantees that the file has its new name and visibility, with version, object and `createdAt` as before and
   * `updatedAt` moved; or changes nothing. A file that it replaces is removed in the same moment. Rejects as
   * `removeFile` does, then with `file_exists` when the new name is another file's and `overwrite` is false.
   */
  changeFile(change: ChangeFile): Promise<File>

  /**
   * Up to `limit` files in the order asked for, after a position. A file that neither comes, goes nor changes its
   * place while someone reads page after page is shown exactly once, whatever the others do. The cost of a page does
   * not depend on how many files the user has; only a prefix in another order than that of names has them looked
   * through, once for all pages together. Empty for a user that is unknown, suspended or deleted.
   */
  listFiles(page: ListFiles): Promise<readonly File[]>

  /**
   * Guarantees that the database answers right now, and returns its clock: milliseconds since 1970. After a write that
   * failed because the disk is full it rejects until a write succeeds, for which it tries one each time.
   */
  check(): Promise<number>

  /**
   * The file of that name, or `undefined` when there is none that the audience may see. Files of suspended and of deleted
   * users are found by no one.
   */
  findFile(file: FindFile): Promise<File | undefined>

  /** The user's figures, or `undefined` for an unknown or deleted user. */
  usage(userId: UserId): Promise<Usage | undefined>

  /** How many of the user's uploads count against `maxUploads` now. */
  countUploads(userId: UserId): Promise<number>

  /** Rejects as `begin` would at this moment, and reserves nothing. */
  checkBegin(upload: CheckBegin): Promise<void>

  /** The user with their figures, read in one statement, whatever the status; `undefined` for an unknown user. */
  findAccount(userId: UserId): Promise<Account | undefined>

  /** The page of users, deleted ones included, in the order of their ids, bytewise. One statement. */
  listAccounts(page: AccountPage): Promise<readonly Account[]>

  /**
   * The figures and what makes them, read in one statement; `undefined` for an unknown or deleted user, and for one who was
   * created at another time than `userCreatedAt`, where it is given.
   */
  reportCapacity(userId: UserId, userCreatedAt?: number): Promise<CapacityReport | undefined>
}
