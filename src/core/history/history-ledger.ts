import type { FileName, FileNamePrefix } from '../files/file-name.ts'
import type { VersionRestore } from '../files/operation.ts'
import type { Version } from '../objects/object-key.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import type { Actor, Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { PastVersion } from './past-version.ts'

/** The position right after a version in the order of ends, newest first. */
export interface EndPosition {
  readonly endedAt: number
  readonly version: Version
}

/** A page of past versions. */
export interface PastListing {
  /** Only versions of this name; takes precedence over `prefix`. */
  readonly name: FileName | undefined
  readonly prefix: FileNamePrefix
  readonly after: EndPosition | undefined
  readonly limit: number
}

export interface ListHistory extends Caller, PastListing {
  /** How many versions are looked at, at most. */
  readonly maxScanned: number
}

/** It can end before the page is full, as `ListedFiles`. */
export interface ListedVersions {
  readonly versions: readonly PastVersion[]
  readonly scannedTo: EndPosition | undefined
}

export interface FindPastVersion extends Caller {
  readonly version: Version
}

export interface RestoreVersion extends Actor, VersionRestore {}

export interface PurgePage extends Caller {
  readonly endedBy: number
  readonly limit: number
}

/**
 * PORT: the versions that users have replaced or deleted, and can restore. As every part of the ledger, it keeps the
 * contract of `UploadLedger`. A version is past from the commit that ends its file, and no version is both a file and
 * past. What is purged becomes garbage in the same transaction.
 */
export interface HistoryLedger {
  /** Newest end first. Empty for a user who is not active. */
  listHistory(page: ListHistory): Promise<ListedVersions>

  /** `gone` while its object is garbage or about to be; `undefined` if no such version is known. */
  findPastVersion(version: FindPastVersion): Promise<PastVersion | 'gone' | undefined>

  /**
   * Guarantees that the version is the current file, with its version and object, or changes nothing. Rejects with
   * `not_found` or `version_gone`, then with `scope_insufficient` as `assertMaySetVisibility` says, then with
   * `precondition_failed`, then `file_exists`, then as the quota refuses an upload: `file_count_exceeded`,
   * `capacity_exceeded`. The bytes are in the store already, so no bound on garbage applies.
   */
  restoreVersion(restore: RestoreVersion): Promise<CommittedUpload>

  /** Guarantees that the version is purged. Rejects with `not_found` for one that is not known. */
  purgeVersion(version: FindPastVersion): Promise<void>

  /** Purges up to `limit` of the caller's versions that ended by then, oldest end first, and returns how many. */
  purgeHistory(page: PurgePage): Promise<number>

  /**
   * Users with expired versions, with versions whose protection is over, or with more than their allowance; `except`
   * lists at most 1000 users to skip.
   */
  listUsersToTrim(options: {
    readonly except: readonly UserId[]
    readonly limit: number
  }): Promise<readonly UserId[]>

  /**
   * Purges versions of a user that have expired, or that exceed the allowance (README.md, "The allowance"), and ends the
   * protection of those that have had it long enough. Returns how many it has purged or left unprotected, at most
   * `limit`; less means that none is left, or that the next call continues to look for one.
   */
  trimHistory(trim: { readonly userId: UserId; readonly limit: number }): Promise<number>
}
