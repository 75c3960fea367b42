import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** How long what an ended upload or append has left is kept: none of its writes can take effect later. */
export const RETENTION_MS = 15 * 60_000

/** Minimum time between removals of the same aborted upload's object. */
export const RECHECK_MS = 20_000

/** Delay until a failed removal is due again: shorter than the sweep interval, so that the next sweep retries. */
export const RETRY_MS = 10_000

export interface AbortedUpload {
  readonly userId: UserId
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly removeAt: number
  /**
   * Whether the abort was older than the retention when read: then no late write can reach the store, and this removal
   * is the last.
   */
  readonly isLast: boolean
}

/** An object that no file refers to. */
export interface Garbage {
  readonly objectKey: ObjectKey
  readonly notBefore: number
  /** The user against whose garbage limit this object counts, if any. */
  readonly userId: UserId | undefined
}

/** The result of one page of removals. Objects whose removal was not tried are in neither list. */
export interface Removals<T> {
  readonly removed: readonly T[]
  /** They are due again after `RETRY_MS`, and move back in the order, so they do not block others. */
  readonly failed: readonly T[]
  /** Whose figures the note changes. */
  readonly userId: UserId | undefined
}

/**
 * PORT: what crashes and failures leave behind. As every part of the ledger, it keeps the contract of `UploadLedger`.
 * Lists are in due order, so items that are not yet due cost nothing. Any number of sweepers may call every method at
 * once.
 */
export interface SweepLedger {
  /** Up to `limit` pending uploads with an expired lease, oldest first. `except` lists at most 1000 users to skip. */
  listExpiredUploads(options: {
    readonly except?: readonly UserId[]
    readonly limit: number
  }): Promise<readonly { userId: UserId; version: Version }[]>

  /**
   * Up to `limit` due uploads after `after`, ordered by `removeAt` and version. An upload is due when it is aborted,
   * and repeatedly until its abort is older than the retention, because a write in flight can still reach the store.
   */
  listAbortedUploads(page: {
    readonly after: AbortedUpload | undefined
    readonly limit: number
  }): Promise<readonly AbortedUpload[]>

  /**
   * Deletes the rows of uploads whose last removal succeeded, and returns how many it deleted. Every other upload is
   * due again after as much time as has passed since its abort, or right after its retention if that is sooner, but not
   * before `RECHECK_MS` have passed. The removals that are last must all be of `userId`, whose garbage they no longer
   * are; if it is unset, none may be last.
   */
  noteAbortedRemovals(removals: Removals<AbortedUpload>): Promise<number>

  /** Up to `limit` unfinished uploads whose link has ended: they can never be committed. */
  listEndedDrops(options: {
    readonly except: readonly UserId[]
    readonly limit: number
  }): Promise<readonly { readonly userId: UserId; readonly version: Version }[]>

  /** Users with expired files, up to `limit`. Deleted users are left to their purge. */
  listUsersWithExpired(options: {
    readonly except: readonly UserId[]
    readonly limit: number
  }): Promise<readonly UserId[]>

  /**
   * Ends up to `limit` expired files of a user, the longest expired first: their bytes no longer count. Returns how
   * many.
   */
  expireFiles(options: { readonly userId: UserId; readonly limit: number }): Promise<number>

  /** Deletes the rows of up to `limit` uploads committed before the retention, and returns how many. */
  forgetUploads(options: { readonly limit: number }): Promise<number>

  /**
   * Deletes up to `limit` changes that were committed more than `lifetimeMs` ago, of the next users after `after`,
   * bytewise, and as many webhooks that were parked before that.
   */
  forgetChanges(options: {
    readonly after?: UserId | undefined
    readonly lifetimeMs: number
    readonly limit: number
  }): Promise<ForgottenChanges>

  /**
   * Up to `limit` due objects of `garbage` after `after`, ordered by `notBefore` and key. `safe` is the safe time, if it
   * could not be stored.
   */
  listGarbage(page: {
    readonly safe?: number | undefined
    readonly after: Garbage | undefined
    readonly limit: number
  }): Promise<readonly Garbage[]>

  /** Deletes the rows of removed garbage. All of it must count against `userId`, or, if unset, against no user. */
  noteGarbageRemovals(removals: Removals<Garbage>): Promise<void>

  /** The first deleted user after `after`, bytewise. Skips users that have only aborted uploads left. */
  findUserToPurge(after: UserId | undefined): Promise<UserId | undefined>

  /**
   * Purges a deleted user step by step: moves up to `limit` files to `garbage`, aborts the pending uploads, deletes the
   * rows of up to `limit` committed ones and changes, and finally the user's. Returns the number of rows moved; less than
   * `limit` means that nothing is left to move. One call locks one user: `userId` if set (does nothing unless that user is
   * deleted), else the first user to purge. Objects stay for the garbage delay, and at least 15 minutes: a retried write
   * of a recently committed object can still reach the store.
   */
  purgeDeletedUsers(options: { readonly userId?: UserId; readonly limit: number }): Promise<number>

  /**
   * The database's clock, ms since 1970. After a write has failed because the disk is full, rejects until a test write
   * succeeds.
   */
  check(): Promise<number>

  /** As `ResumableLedger.confirm`. */
  confirm(): Promise<void>
}

export interface ForgottenChanges {
  /** How many changes and webhooks. */
  readonly forgotten: number
  /** The last user that has no more of them; `undefined` at the end of all users. */
  readonly last: UserId | undefined
}
