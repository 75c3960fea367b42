import type { File, SentDescription, Visibility } from '../files/file.ts'
import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { Precondition } from '../files/precondition.ts'
import type { ContentDigest } from '../objects/content-digest.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { Usage } from '../users/account-ledger.ts'
import type { Actor, Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'

/** How long an upload lives after its last renewal, and with it what it has reserved. */
export const LEASE_MS = 60_000

export interface CheckBegin extends Actor {
  readonly name: FileName
  /** The part of the new file's size that is known so far; 0 reserves nothing. */
  readonly bytes: number
  readonly precondition?: Precondition | undefined
  /** If set, the commit may evict files with this prefix to make room. */
  readonly evict?: FileNamePrefix | undefined
}

export interface BeginUpload extends CheckBegin, Pick<UploadTerms, 'linkId'> {
  readonly version: Version
  readonly objectKey: ObjectKey
}

export interface ExtendUpload extends Caller, Pick<UploadTerms, 'linkId'> {
  readonly version: Version
  readonly bytes: number
  /** As at its begin. */
  readonly evict?: FileNamePrefix | undefined
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

/** What an upload may say of the life of its file, and of others. */
export interface Retention {
  /** See `CheckBegin`. */
  readonly evict?: FileNamePrefix | undefined
  /** How long the file lives from its commit; for ever by default. */
  readonly expiresInMs?: number | undefined
}

export interface UploadTerms extends Retention {
  /** The link that the file came by. The commit counts its use, and rejects with `not_found` once it has ended. */
  readonly linkId?: string | undefined
}

export interface CommitUpload extends Actor, UploadTerms, SentDescription, ContentDigest {
  readonly version: Version
  /** Size in bytes, as reported by the object store. */
  readonly size: number
  /** `undefined` keeps the visibility of the replaced file; a new file is `private`. */
  readonly visibility: Visibility | undefined
  readonly precondition?: Precondition | undefined
}

export interface CommittedUpload {
  readonly file: File
  readonly replaced: boolean
  /** Set if the upload may evict: what it has evicted. */
  readonly evicted?: Evicted | undefined
  readonly usage: Usage
}

export interface Evicted {
  readonly files: number
  readonly bytes: number
}

/** `forgotten`: as `aborted`, but nothing was sent to the store, so nothing is kept or has to be removed. */
export type UploadOutcome = 'aborted' | 'forgotten' | 'committed'

/** An upload that is neither aborted nor committed, even if it has expired. */
export interface PendingUpload {
  readonly userId: UserId
  readonly version: Version
  readonly name: FileName
  readonly objectKey: ObjectKey
  /** The length of a resumable upload, if it is known. */
  readonly length: number | undefined
  /** A request holds the upload, or held it when its instance stopped, up to a minute ago. */
  readonly isRunning: boolean
}

/**
 * PORT: what uploads reserve and commit. It and all others that `Ledger` (`database/ledger.ts`) extends are parts of the
 * ledger, and have a common contract. Each method is one short transaction or statement. Uploads may share a transaction, but a refused call rolls back none of the others. A
 * transaction contains only SQL; it never waits for a body or the network (I6). All times come from the database's
 * clock, so instances with skewed clocks agree.
 *
 * Every method rejects with `unavailable` (driver's error as `cause`) if the database fails or times out. The outcome
 * of a `commit` is then unknown until `abort` determines it. Busy errors, serialization failures and deadlocks are
 * retried.
 *
 * Methods that take a `Caller` reject first with `access_token_invalid` for a missing user, then with `user_suspended`.
 * They compare the creation time under the user's lock, so a later user with the same id counts as missing.
 */
export interface UploadLedger {
  /** Rejects as `begin` would at this moment, and reserves nothing. */
  checkBegin(upload: CheckBegin): Promise<void>

  /**
   * Atomic: either the journal has the upload's key and the growth is reserved, or nothing has changed. Growth is
   * `bytes` minus the size of the replaced file, at least 0. It is accepted if it is 0, or if used + reserved + growth
   * is at most the capacity. The `WHERE` of the reserving `UPDATE` checks this, so concurrent instances never reserve a
   * byte twice (I5). Under the same lock, pending uploads with a running lease are limited to `AccountLimits.maxUploads`;
   * an expired one counts again when its lease is renewed, and a resumable one counts only while a request holds it. The
   * same `WHERE` bounds the user's garbage (core/quota/README.md). For a narrow credential, which has a share of the
   * limits, nothing is reserved yet.
   *
   * Rejects, in this order, with: `precondition_failed`, `too_many_requests` (for garbage, with a `retry_after` until
   * the oldest is due), `file_count_exceeded`, `capacity_exceeded` (facts
   * `capacity, used, reserved, requested, available`). An upload by a link is also refused with `not_found` if the link
   * has ended, as `dropRefusal` says, and with `too_many_requests` as `assertMoreDrops` does.
   */
  begin(upload: BeginUpload): Promise<void>

  /**
   * Guarantees a reservation of `bytes` in total (it never shrinks) and a lease from now on, or changes nothing. Rejects
   * with `capacity_exceeded`, as `dropRefusal` says, and with `unavailable` if the upload is no longer pending; the
   * caller must then stop.
   */
  extend(upload: ExtendUpload): Promise<void>

  /** Guarantees a lease from now on. Rejects with `unavailable` if the upload is no longer pending. */
  renew(upload: { readonly version: Version }): Promise<void>

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
   * an unknown upload), or `forgotten` for an untouched upload and a resumable one that no append has claimed. Once the
   * journal has forgotten an upload, it counts as committed while any table names its object: a file, a past version or
   * garbage. So whoever gets `aborted` may remove the object. The
   * reservation is released exactly once. An aborted upload counts as the user's garbage until its row is deleted.
   * Resolves to `undefined` if `expiredOnly` is set and the lease is still running.
   */
  abort(upload: AbortUpload): Promise<UploadOutcome | undefined>

  /**
   * Ends the leases of all uploads except resumable ones, whose claims it releases instead. Returns how many leases it
   * ended. Called only if every process that has begun an upload has ended: the next append will not take over.
   */
  endLeases(): Promise<number>

  /** Up to `limit` pending uploads of all users after `after`, by version. */
  listPendingUploads(page: {
    readonly after: Version | undefined
    readonly limit: number
  }): Promise<readonly PendingUpload[]>
}
