import type { FileVersion } from '../files/file.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'

/** The `sha256` of an object whose content was not read. Its `crc32` is 0. It never becomes a file. */
export const UNREAD = ''

/**
 * PORT: what a rebuild records. Every object enters the history first, where the database sorts it, so memory use is
 * constant. Every method is one short transaction except `begin` and `clear`, which are several. After each, the users'
 * figures agree with their rows (I4). If a later run has begun, every method that writes rejects. All reject with
 * `unavailable` as the ledger's do.
 */
export interface RebuildLedger {
  /**
   * Marks an empty database as being rebuilt. If another run has left its mark, removes what that run recorded, and
   * resolves to `restarted`. Rejects for any other database, and changes nothing.
   */
  begin(): Promise<'begun' | 'restarted'>

  /** Whether a run is in progress or was interrupted. */
  isUnfinished(): Promise<boolean>

  /**
   * Adds at most 1,000 versions to the history, and their users. Returns the keys of those that it leaves out because
   * the object of another user has their version.
   */
  add(versions: readonly FileVersion[]): Promise<readonly ObjectKey[]>

  /** Up to `limit` of the added versions, by descending user, name and version: of each name, the newest first. */
  list(page: {
    readonly before: FileVersion | undefined
    readonly limit: number
  }): Promise<readonly FileVersion[]>

  /** Takes at most 1,000 versions out of the history, and makes those that were read files. */
  settle(versions: readonly Version[]): Promise<void>

  /** Guarantees that the database is empty, as before `begin`. */
  clear(): Promise<void>

  /** Guarantees that the rebuild no longer counts as unfinished. */
  finish(): Promise<void>
}
