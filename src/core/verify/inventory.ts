import type { File } from '../files/file.ts'
import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** What a user's quota is about; bytes but for the count. */
export interface Figures {
  readonly used: number
  readonly reserved: number
  readonly fileCount: number
  /** What of the user's garbage counts against its bound. */
  readonly garbage: number
}

/** A user's figures as they are recorded and as a recount gives them, both of one moment. */
export interface Balance {
  readonly userId: UserId
  /** Whether the user has a row in `users`; a deleted one that is not yet purged has. */
  readonly isUser: boolean
  /** `undefined` when the user has no row in `quotas`. */
  readonly recorded: Figures | undefined
  readonly counted: Figures
  /** When it was read, in milliseconds since 1970 by the database's clock. */
  readonly readAt: number
}

/** An object that something on the books refers to. */
export interface TracedObject {
  readonly objectKey: ObjectKey
  /** The current file whose content it is, when it is one. */
  readonly file: Pick<File, 'size' | 'updatedAt'> | undefined
}

/** What a file's row says of its object. */
export type FiledObject = Pick<
  File,
  'userId' | 'name' | 'version' | 'objectKey' | 'size' | 'sha256'
>

/**
 * PORT: the books, read for comparing them with themselves and with the object store. Every method is one statement or
 * one short transaction and rejects with `unavailable` as the ledger's do. All are safe beside running uploads.
 */
export interface Inventory {
  /**
   * Up to `limit` balances in the order of the users' ids, bytewise, after `after`. A page is one snapshot, and every
   * change of the books is one transaction, so a running upload is in both halves of a balance or in neither.
   */
  listBalances(page: {
    readonly after: UserId | undefined
    readonly limit: number
  }): Promise<readonly Balance[]>

  /** The balance of one user, or `undefined` when neither `users` nor `quotas` knows it. */
  findBalance(userId: UserId): Promise<Balance | undefined>

  /** Those of the users that have a balance. */
  findUsers(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>>

  /**
   * Those of the keys, at most a thousand, that a file, an upload in any state, or garbage refers to, in one snapshot.
   * From the first byte of an object to its removal one of the three does, so what was listed *before* the call and is
   * not in its answer either has been removed meanwhile or is an orphan.
   */
  traceObjects(keys: readonly ObjectKey[]): Promise<readonly TracedObject[]>

  /** Up to `limit` files of a user of any status, in the order of their names, bytewise, after `after`. */
  listFiles(page: {
    readonly userId: UserId
    readonly after: FileName | undefined
    readonly limit: number
  }): Promise<readonly FiledObject[]>

  /** Whether a file is still of that version, under whatever name, with its content under that key. */
  isCurrent(file: { readonly version: Version; readonly objectKey: ObjectKey }): Promise<boolean>

  /**
   * Guarantees that the figures of a user are those of a recount, under the user's lock, so that they are exact also
   * beside running uploads. A user without a row in `quotas` gets one. Does nothing for a user that is gone.
   */
  recount(userId: UserId): Promise<void>

  /**
   * Hands those of the keys, at most a thousand, to `garbage` of which neither the key nor the version stands in the
   * row of a file or an upload, to be removed by the sweeper after `garbageDelayMs`; returns them. None while a rebuild is
   * unfinished, whose objects are not yet in such rows. It removes nothing itself (I7).
   */
  discardObjects(objects: {
    readonly keys: readonly ObjectKey[]
    readonly garbageDelayMs: number
  }): Promise<readonly ObjectKey[]>
}
