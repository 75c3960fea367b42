import type { FiledObject } from '../files/file.ts'
import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** The figures in a row of `quotas` that other rows add up to. */
export const FIGURES = [
  'used_bytes',
  'reserved_bytes',
  'file_count',
  'garbage_bytes',
  'history_bytes',
  'history_count',
  'history_protected',
] as const

export type Figures = Readonly<Record<(typeof FIGURES)[number], number>>

/** A user's recorded and recounted figures, from one snapshot. */
export interface Balance {
  readonly userId: UserId
  /** Whether `users` has a row; true for a deleted user until the purge. */
  readonly isUser: boolean
  /** `undefined` if `quotas` has no row. */
  readonly recorded: Figures | undefined
  readonly counted: Figures
  /** How many devices `device_usage` says something else of than their files add up to. */
  readonly wrongDevices: number
  /** Milliseconds since 1970 by the database's clock. */
  readonly readAt: number
}

/** An object that a file, a past version, an upload or garbage refers to. */
export interface TracedObject {
  readonly objectKey: ObjectKey
  /** The file or past version with this content, if any; `since` is when it became the one or the other. */
  readonly content: { readonly size: number; readonly since: number } | undefined
}

export interface PastObject extends FiledObject {
  readonly endedAt: number
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
   * Returns those of at most 1,000 keys that a row refers to, an upload's in any state, in one snapshot. An
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

  /** As `listFiles`, of past versions, oldest end first. */
  listPast(page: {
    readonly userId: UserId
    readonly after: PastObject | undefined
    readonly limit: number
  }): Promise<readonly PastObject[]>

  /** Whether a file, under any name, or a past version still has this version and object key. */
  isCurrent(file: { readonly version: Version; readonly objectKey: ObjectKey }): Promise<boolean>

  /** Guarantees an exact recount under the user's lock. Creates a missing `quotas` row; ignores a user that is gone. */
  recount(userId: UserId): Promise<void>

  /**
   * Moves those of at most 1,000 keys to `garbage` whose key and version are in no row of a file, a past version or an
   * upload, and returns them. The sweeper removes them after the garbage delay; this method removes no object (I7).
   * Moves none while a rebuild is unfinished, since its objects have no such rows yet.
   */
  discardObjects(keys: readonly ObjectKey[]): Promise<readonly ObjectKey[]>
}
