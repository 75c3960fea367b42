import type { ContentDescription } from '../files/file.ts'
import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** An object of the store with its owner, and what its metadata tell of the file. */
export interface FoundObject extends ContentDescription {
  readonly userId: UserId
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly name: FileName
  /** Size in bytes. */
  readonly size: number
  /** Start of its upload in milliseconds since 1970, from its version. */
  readonly beganAt: number
}

export interface JournaledObject extends FoundObject {
  /** Whether the store has its marker: it was replaced or deleted. */
  readonly isPast: boolean
}

/** An object whose content was read. `sha256`: 64 lower-case hexadecimal digits. */
export interface ReadObject extends FoundObject {
  readonly sha256: string
}

/**
 * PORT: the objects that a rebuild has found, in a database table that exists only during the rebuild, and what the
 * rebuild records of them. The database sorts the objects, so memory use is constant. Every method except `begin` is one
 * short transaction. All methods reject with `unavailable` as the ledger's do.
 */
export interface RebuildJournal {
  /**
   * Guarantees an empty journal in a database without files and garbage. Creates it if the database has no users, files,
   * uploads or garbage. If another run left a journal, removes what that run recorded, and resolves to `restarted`; if
   * that run still works, its further writes reject. Resolves to `refused` otherwise, and changes nothing.
   */
  begin(): Promise<'begun' | 'restarted' | 'refused'>

  /** Whether a journal exists: a run is in progress or was interrupted. */
  isUnfinished(): Promise<boolean>

  /** Adds at most 1,000 objects and returns the keys of those whose version another user's object already has. */
  add(objects: readonly FoundObject[]): Promise<readonly ObjectKey[]>

  /** Adds at most 1,000 markers of past versions, by the versions that they mark. */
  addMarkers(versions: readonly string[]): Promise<void>

  /** Returns up to `limit` objects, by descending user, name and version: of each name, the newest first. */
  list(page: {
    readonly before: FoundObject | undefined
    readonly limit: number
  }): Promise<readonly JournaledObject[]>

  /**
   * Makes at most 1,000 objects private files and others, with their markers, garbage, to be removed after
   * `garbageDelayMs`. Creates missing users. The users' figures change in the same transaction (I4).
   */
  settle(objects: {
    readonly files: readonly ReadObject[]
    readonly garbage: readonly JournaledObject[]
    readonly garbageDelayMs: number
  }): Promise<void>

  /** Guarantees that no journal exists. */
  finish(): Promise<void>
}
