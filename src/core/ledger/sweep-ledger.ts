import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** An aborted upload whose object is to be removed, for the first time or again. */
export interface AbortedUpload {
  readonly version: Version
  readonly objectKey: ObjectKey
  /** From when; with the version it is the place in the order of the listing. */
  readonly removeAt: number
  /**
   * Whether the abort lay more than the retention back when this was read. What was on its way then has landed, so a
   * removal that begins now is the last one.
   */
  readonly isLast: boolean
}

/** An object that no file refers to. */
export interface Garbage {
  readonly objectKey: ObjectKey
  /** From when it may be removed; with the key it is the place in the order of the listing. */
  readonly notBefore: number
  /** Whose bound it counts against; `undefined` where it counts against none. */
  readonly userId: UserId | undefined
}

/** How the removals of one page went; what was not tried is in neither. */
export interface Removals<T> {
  readonly removed: readonly T[]
  readonly failed: readonly T[]
  /** In how many milliseconds the failed ones are due again. They lose their place, so that they hold up no other. */
  readonly retryMs: number
}

/** A kind of work that waits for the sweeper. */
export interface Backlog {
  /** How much of it is due, at most the cap that was asked for. */
  readonly count: number
  /** For how long the oldest of it has been due, in milliseconds; 0 when there is none. */
  readonly oldestMs: number
}

/** What the journal holds, each counted and added up to at most the cap that was asked for. */
export interface Journal {
  /** Uploads that are neither committed nor aborted. */
  readonly reservations: number
  /** Bytes that these have reserved. */
  readonly reservedBytes: number
  /** Objects that no file refers to any more and that have not been removed. */
  readonly garbage: number
}

/**
 * The part of the port `Ledger` that settles what crashes and failures left. Everything is listed in the order in which
 * it is due, so that what is not due yet costs nothing. Any number of sweepers may call all of it at once.
 */
export interface SweepLedger {
  /**
   * Ends the leases of all pending uploads, and says how many, for who knows that nobody works at them any more. It settles
   * nothing: one whose owner lives all the same can renew its lease until it is aborted.
   */
  endLeases(): Promise<number>

  /** Up to `limit` pending uploads whose lease has ended, oldest first, but for those of `except`, at most a thousand users. */
  listExpiredUploads(options: {
    readonly except?: readonly UserId[]
    readonly limit: number
  }): Promise<readonly { userId: UserId; version: Version }[]>

  /**
   * Up to `limit` aborted uploads that are due, after `after`, by `removeAt` and version. An upload is due when it is
   * aborted, then again and again until its abort lies more than `retentionMs` back, since a write that was on its way
   * can still land.
   */
  listAbortedUploads(page: {
    readonly after: AbortedUpload | undefined
    readonly limit: number
    readonly retentionMs: number
  }): Promise<readonly AbortedUpload[]>

  /**
   * Forgets those of the removed whose removal was the last, and says how many. The others are due again when as much
   * time as since the abort has passed once more, at least `recheckMs`, or right after the retention if that is sooner:
   * so there are few removals of each, and one that began after the retention.
   */
  noteAbortedRemovals(
    removals: Removals<AbortedUpload> & {
      readonly retentionMs: number
      readonly recheckMs: number
    },
  ): Promise<number>

  /** Forgets up to `limit` uploads that were committed more than `retentionMs` ago; says how many. */
  forgetUploads(options: { readonly retentionMs: number; readonly limit: number }): Promise<number>

  /** Up to `limit` objects in `garbage` whose time has come, after `after`, by `notBefore` and key. */
  listGarbage(page: {
    readonly after: Garbage | undefined
    readonly limit: number
  }): Promise<readonly Garbage[]>

  /** Forgets the garbage that was removed. All of it was listed as that user's, whose lock this takes, or as nobody's. */
  noteGarbageRemovals(
    removals: Removals<Garbage> & { readonly userId: UserId | undefined },
  ): Promise<void>

  /**
   * The first deleted user after `after`, by id and bytewise, of whom there is something to purge. A user whose aborted
   * uploads are all that is left waits until those are forgotten.
   */
  findUserToPurge(after: UserId | undefined): Promise<UserId | undefined>

  /**
   * Takes up to `limit` files of a deleted user off the books and hands their objects to `garbage`, aborts that
   * user's pending uploads, and forgets up to `limit` committed ones, and the user of whom nothing is left. Says how
   * many rows it moved; 0 means done. One call holds one user's lock: that of `userId`, of whom it moves nothing
   * unless deleted, or of the first user to purge.
   * The objects stay for `garbageDelayMs`: a repeated write of one that was just committed can still land.
   */
  purgeDeletedUsers(options: {
    readonly userId?: UserId
    readonly limit: number
    readonly garbageDelayMs: number
  }): Promise<number>

  /** What waits for the sweeper: uploads whose lease has ended, aborted ones that are due, and garbage that is. */
  measureBacklog(cap: number): Promise<{
    readonly expiredUploads: Backlog
    readonly abortedUploads: Backlog
    readonly garbage: Backlog
  }>

  /** What the journal holds of all users, due or not. */
  measureJournal(cap: number): Promise<Journal>

  /**
   * Answers whether the chore is the holder's for `leaseMs` from now: it was free, its lease had ended, or it was the
   * holder's already. It spares work, and nothing may rest on it: a holder that is late has lost it without knowing.
   */
  holdChore(chore: Chore & { readonly leaseMs: number }): Promise<boolean>

  /** Frees the chore, if it is the holder's. */
  leaveChore(chore: Chore): Promise<void>
}

/** Something that one instance does for all. */
export interface Chore {
  readonly name: 'sweep'
  /** Different for everyone who may want it. */
  readonly holder: string
}
