import type { File, FileVersion } from './file.ts'
import type { FileName, FileNamePrefix } from './file-name.ts'
import type { Audience, ListAudience, ListedFiles, Listing } from './listing.ts'
import type { BatchOperation, FileDeletion, FileUpdate } from './operation.ts'
import type { Version } from '../objects/object-key.ts'
import type { Usage } from '../users/account-ledger.ts'
import type { Actor, Caller } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'

export interface FindFile {
  readonly userId: UserId
  /** If set, a user created at another time counts as unknown. */
  readonly userCreatedAt?: number | undefined
  readonly name: FileName
  readonly audience: Audience
}

export interface ListFiles extends Listing {
  readonly userCreatedAt?: number | undefined
  readonly audience: ListAudience
  /** How many rows are read, at most. */
  readonly maxScanned: number
}

/** Which files of a user. */
export type SelectedFiles =
  | { readonly names: readonly FileName[]; readonly prefix?: undefined }
  | { readonly names?: undefined; readonly prefix: FileNamePrefix }

export interface SelectFiles extends Caller {
  readonly selected: SelectedFiles
  readonly limit: number
}

/** What an archive needs of a file. */
export type ArchivedFile = Pick<FileVersion, 'name' | 'objectKey' | 'size' | 'crc32' | 'updatedAt'>

export interface DeleteFile extends Actor, FileDeletion {
  /** Also of a suspended user. A deleted one is `not_found`. */
  readonly byOperator?: boolean | undefined
}

export interface UpdateFile extends Actor, FileUpdate {}

export interface ChangeFiles extends Actor {
  /** At least one. */
  readonly operations: readonly BatchOperation[]
}

export interface ChangedFiles {
  /** The file right after each operation; `undefined` if it is deleted or was missing, and if the operation is by prefix. */
  readonly files: readonly (File | undefined)[]
  /** The number of files that each operation by prefix has matched; `undefined` for the others. */
  readonly matched: readonly (number | undefined)[]
  readonly usage: Usage
}

/** PORT: the files of a user. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface FileLedger {
  /** The file if the audience may see it. Files of suspended and deleted users are not found. */
  findFile(file: FindFile): Promise<File | undefined>

  /**
   * Guarantees that a file which is not created, removed or moved while a client reads page after page is listed
   * exactly once. A page reads at most `maxScanned` rows of an index, whatever it lists, and of a common prefix one row
   * unless it searches for a text; with `countsFolders`, about `MAX_COUNTED_FILES` more. With `hidesOthers`, a listing
   * in any order other than by name sorts the files with the prefix, and rejects with `invalid_parameter` (`order`) if
   * they are `maxScanned` or more. Empty for a user who is unknown, deleted or, unless an operator lists, suspended.
   */
  listFiles(page: ListFiles): Promise<ListedFiles>

  /**
   * The first `limit` of these files by name, all as they are at one instant, also of a suspended user. Reads at most
   * `limit` rows of an index: among them are expired ones, which are left out unless the limit is reached.
   */
  selectFiles(wanted: SelectFiles): Promise<readonly ArchivedFile[]>

  /**
   * Guarantees that the file is deleted, and its object is history or garbage. Resolves to its version. Rejects with
   * `not_found`, then `precondition_failed`.
   */
  deleteFile(file: DeleteFile): Promise<Version>

  /**
   * Guarantees the file that `updatedFile` returns, and rejects with what it throws; or changes nothing. If another
   * file has the new name: removes that file atomically if `overwrite` is set, else rejects with `file_exists`. Before
   * that, rejects as `deleteFile` does.
   */
  updateFile(change: UpdateFile): Promise<File>

  /**
   * Guarantees all operations, in order, or none. Each sees what those before it have left, and is refused as
   * `deleteFile`, `updateFile` and `restoreVersion` refuse it, with its index as the fact `operation`. The quota is
   * compared with what all of them leave: `file_count_exceeded` and `capacity_exceeded` name the restore after which the
   * files no longer fit. An inactive user is refused without an index.
   *
   * Operations by prefix match files that have not expired, and reject with `not_found` if there are none. Rejects with
   * `invalid_parameter` (`operations`) and the fact `matched`, exact up to `MAX_MATCHED`, if the matched files and the
   * other operations are more than `MAX_OPERATIONS`. `file_exists` and `invalid_file_name` have the refused new name as
   * the fact `name`.
   */
  changeFiles(batch: ChangeFiles): Promise<ChangedFiles>
}
