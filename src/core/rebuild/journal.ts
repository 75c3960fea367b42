import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** An object of the store with its owner and its file name. */
export interface FoundObject {
  readonly userId: UserId
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly name: FileName
  /** Size in bytes. */
  readonly size: number
  /** Start of its upload in milliseconds since 1970, from its version. */
  readonly beganAt: number
}

export interface RebuildFigures {
  readonly users: number
  /** The newest object of each user and name; `bytes` is their size. */
  readonly files: number
  readonly bytes: number
  /** Older objects of the same users and names. */
  readonly replaced: number
  /** Objects already made files or garbage. */
  readonly settled: number
}

/** A position in the journal, which is ordered by user, name and version. */
export type RebuildPosition = Pick<FoundObject, 'userId' | 'name' | 'version'>

/**
 * PORT: the state of a rebuild, in a database table that exists only during the rebuild. The database determines the
 * newest objects, so memory use is constant, and an interrupted run can continue. Every method except `figures` is one
 * short transaction. All methods reject with `unavailable` as the ledger's do.
 */
export interface RebuildJournal {
  /**
   * Guarantees a journal in a database that holds nothing except the results of the rebuild. Creates the journal if the
   * database has no users, files, uploads or garbage, or finds the journal of an interrupted run. Resolves to `refused`
   * otherwise, and changes nothing.
   */
  begin(): Promise<'begun' | 'found' | 'refused'>

  /** Whether a journal exists: a run is in progress or was interrupted. */
  isUnfinished(): Promise<boolean>

  /** Returns those of at most 1,000 keys that the journal holds. */
  findKnown(keys: readonly ObjectKey[]): Promise<ReadonlySet<ObjectKey>>

  /** Adds at most 1,000 objects and returns the keys of those whose version another user's object already has. */
  add(objects: readonly FoundObject[]): Promise<readonly ObjectKey[]>

  /** Returns up to `limit` objects after a position, in order: the newest of their user and name, without a digest. */
  listUnread(page: {
    readonly after: RebuildPosition | undefined
    readonly limit: number
  }): Promise<readonly FoundObject[]>

  /** Stores the digests of at most 1,000 objects: SHA-256, 64 lower-case hexadecimal digits. */
  addDigests(
    digests: readonly (Pick<FoundObject, 'userId' | 'version'> & { readonly sha256: string })[],
  ): Promise<void>

  /**
   * Processes up to `limit` of one user's objects after a position: the newest object of each name becomes a private
   * file; older ones become garbage, to be removed after `garbageDelayMs`. Creates a missing user. The user's figures
   * change in the same transaction (I4). Skips a name whose newest object has no digest. Returns the processed objects;
   * none if no object is left after the position.
   */
  settle(options: {
    readonly after: RebuildPosition | undefined
    readonly limit: number
    readonly garbageDelayMs: number
  }): Promise<readonly SettledObject[]>

  /** Returns the totals of processed and remaining objects, added up in many short reads. */
  figures(): Promise<RebuildFigures>

  /** Guarantees that no journal exists. */
  finish(): Promise<void>
}

export interface SettledObject extends FoundObject {
  readonly as: 'file' | 'garbage'
}
