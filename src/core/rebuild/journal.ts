import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** An object as the store shows it: whose it is, and the name under which it came. */
export interface FoundObject {
  readonly userId: UserId
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly name: FileName
  /** Bytes. */
  readonly size: number
  /** When its upload began, in milliseconds since 1970, as its version says. */
  readonly beganAt: number
}

/** What stands in the journal, or what became of it. */
export interface RebuildFigures {
  readonly users: number
  /** The newest objects of their users and names. */
  readonly files: number
  /** Bytes of those. */
  readonly bytes: number
  /** Older objects of the same users and names. */
  readonly replaced: number
  /** Objects that are on the books by now. */
  readonly settled: number
}

/** A place in the journal, which is in the order of users, names and versions. */
export type RebuildPosition = Pick<FoundObject, 'userId' | 'name' | 'version'>

/**
 * PORT: the books while they are made anew from a bucket. Found objects are collected in the database, in a table that
 * exists only meanwhile, so that what is newest is the database's decision, memory does not grow with their number, and an
 * interrupted run is gone on with. Every method but `figures` is one short transaction; all reject with `unavailable` as the
 * ledger's do.
 */
export interface RebuildJournal {
  /**
   * Guarantees that there is a journal and that all else in the database is of its making: begins one when there are
   * neither users, files, uploads nor garbage, or finds the one that an interrupted run has left. Answers which; where it
   * is `refused`, nothing has changed.
   */
  begin(): Promise<'begun' | 'found' | 'refused'>

  /** Whether a journal is there: a run was interrupted, or goes on. */
  isUnfinished(): Promise<boolean>

  /** Those of the keys, at most a thousand, that the journal holds. */
  findKnown(keys: readonly ObjectKey[]): Promise<ReadonlySet<ObjectKey>>

  /** Notes objects, at most a thousand, and returns the keys of those whose version another user's object has already. */
  add(objects: readonly FoundObject[]): Promise<readonly ObjectKey[]>

  /** Up to `limit` of the newest objects of their users and names of which no digest is known, in order, after a position. */
  listUnread(page: {
    readonly after: RebuildPosition | undefined
    readonly limit: number
  }): Promise<readonly FoundObject[]>

  /** Notes what was read of objects, at most a thousand: SHA-256, 64 lower-case hexadecimal digits. */
  addDigests(
    digests: readonly (Pick<FoundObject, 'userId' | 'version'> & { readonly sha256: string })[],
  ): Promise<void>

  /**
   * Takes up to `limit` objects of one user after a position to the books: the newest of a name becomes a private file,
   * those before it become garbage, to be removed after `garbageDelayMs`. A user who is missing is made. The user's
   * figures move in the same transaction (I4). Where the digest of the newest is not known, all of that name stay where
   * they are. Returns the objects that it settled; none means that there is nothing left to settle after the position.
   */
  settle(options: {
    readonly after: RebuildPosition | undefined
    readonly limit: number
    readonly garbageDelayMs: number
  }): Promise<readonly SettledObject[]>

  /** What the journal holds, settled or not, added up in many short reads. */
  figures(): Promise<RebuildFigures>

  /** Guarantees that no journal is left. */
  finish(): Promise<void>
}

export interface SettledObject extends FoundObject {
  readonly as: 'file' | 'garbage'
}
