import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** Figures of a user's quota, in bytes except `fileCount`. */
export interface Figures {
  readonly used: number
  readonly reserved: number
  readonly fileCount: number
  /** The part of the user's garbage that counts against its bound. */
  readonly garbage: number
}

/** A user's recorded and recounted figures, from one snapshot. */
export interface Balance {
  readonly userId: UserId
  /** Whether `users` has a row; true for a deleted user until the purge. */
  readonly isUser: boolean
  /** `undefined` if `quotas` has no row. */
  readonly recorded: Figures | undefined
  readonly counted: Figures
  /** Milliseconds since 1970 by the database's clock. */
  readonly readAt: number
}

/** An object that a file, an upload or garbage refers to. */
export interface TracedObject {
  readonly objectKey: ObjectKey
  /** The current file with this content, if any. */
  readonly file: { readonly size: number; readonly updatedAt: number } | undefined
}

export interface FiledObject {
  readonly userId: UserId
  readonly name: FileName
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly size: number
  readonly sha256: string
}

/**
 * PORT: the records that `verify` compares with each other and with the object store. Each method is one statement or
 * short transaction, is safe alongside running uploads, and rejects with `unavailable` as the ledger's do.
 */
export interface Inventory {
  /**
   * Returns up to `limit` balances after `after`, in bytewise order of user ids. A page is one snapshot and each change
   * one transaction, so an upload in progress is included in both sides of a balance or in neither.
   */
  listBalances(page: {
    readonly after: UserId | undefined
    readonly limit: number
  }): Promise<readonly Balance[]>

  /** Returns the balance of one user, or `undefined` if neither `users` nor `quotas` has the user. */
  findBalance(userId: UserId): Promise<Balance | undefined>

  /** Returns the users that have a balance. */
  findUsers(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>>

  /**
   * Returns those of at most 1,000 keys that a file, an upload in any state, or garbage refers to, in one snapshot. An
   * object has such a reference from its first byte until its removal, so a key that was listed *before* the call and
   * is missing from the result has been removed or is orphaned.
   */
  traceObjects(keys: readonly ObjectKey[]): Promise<readonly TracedObject[]>

  /** Returns up to `limit` files of a user of any status after `after`, in bytewise order of names. */
  listFiles(page: {
    readonly userId: UserId
    readonly after: FileName | undefined
    readonly limit: number
  }): Promise<readonly FiledObject[]>

  /** Whether a file, under any name, still has this version and object key. */
  isCurrent(file: { readonly version: Version; readonly objectKey: ObjectKey }): Promise<boolean>

  /** Guarantees an exact recount under the user's lock. Creates a missing `quotas` row; ignores a user that is gone. */
  recount(userId: UserId): Promise<void>

  /**
   * Moves those of at most 1,000 keys to `garbage` whose key and version are in no row of a file or an upload, and
   * returns them. The sweeper removes them after `garbageDelayMs`; this method removes no object (I7). Moves none while
   * a rebuild is unfinished, since its objects have no such rows yet.
   */
  discardObjects(objects: {
    readonly keys: readonly ObjectKey[]
    readonly garbageDelayMs: number
  }): Promise<readonly ObjectKey[]>
}
