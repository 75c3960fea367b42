import { type AuthorizedCaller, type Caller, inactiveUser, statusOf } from '../users/caller.ts'
import { fileNotFound, type File } from './file.ts'
import { limitFor } from '../quota/shares.ts'
import type { FileName } from './file-name.ts'
import { type Audience, type ListedFiles, type Listing, MAX_SCANNED_FILES } from './listing.ts'
import type { CapacityReport, AccountLedger } from '../users/account-ledger.ts'
import type { ChangedFiles, FileLedger } from './file-ledger.ts'
import { openContent, type OpenedFile, type SelectContent } from './open-content.ts'
import type { Unfinished, ResumableLedger } from '../resumable/resumable-ledger.ts'
import type { FileDeletion, FileOperation, FileUpdate } from './operation.ts'
import { createUploads, type Uploads, type UploadsOptions } from '../uploads/upload.ts'
import type { UserId } from '../users/user-id.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'

export interface ListRepository extends Listing {
  /** `undefined` without an access token. */
  readonly viewer: Caller | undefined
}

export interface ReadFile {
  readonly userId: UserId
  readonly name: FileName
  readonly viewer: Caller | undefined
}

export type OpenFile = ReadFile & SelectContent

export interface DeleteOwnFile extends AuthorizedCaller, FileDeletion {}

export interface UpdateOwnFile extends AuthorizedCaller, FileUpdate {}

export interface ChangeOwnFiles extends AuthorizedCaller {
  readonly operations: readonly FileOperation[]
}

export interface Repository extends Uploads {
  /**
   * Rejects with the same `not_found` for a missing file, a hidden file and an unknown user. Tells an inactive owner
   * that the account is inactive.
   */
  stat(file: ReadFile): Promise<File>

  /**
   * As `stat` and `openContent`. After an overwrite in between, `select` runs again on the new version.
   */
  open(file: OpenFile): Promise<OpenedFile>

  /** The files that the viewer may download; all of them for the owner. Empty for an unknown user. */
  list(page: ListRepository): Promise<ListedFiles>

  /**
   * See `AccountLedger.reportCapacity` and, read right after it, `ResumableLedger.measureUnfinished`. Rejects with
   * `access_token_invalid` for a deleted caller.
   */
  reportCapacity(caller: Caller): Promise<CapacityReport & { readonly unfinished: Unfinished }>

  /** See `FileLedger.deleteFile`. Reverifies the caller first. Running downloads continue. */
  remove(file: DeleteOwnFile): Promise<void>

  /** See `FileLedger.updateFile`. Reverifies the caller first. Touches no object, so the file's size does not matter. */
  change(change: UpdateOwnFile): Promise<File>

  /** See `FileLedger.changeFiles`. Reverifies the caller first. Touches no content. */
  changeAll(batch: ChangeOwnFiles): Promise<ChangedFiles>
}

export interface RepositoryOptions extends UploadsOptions {
  readonly ledger: UploadLedger &
    FileLedger &
    AccountLedger &
    Pick<ResumableLedger, 'measureUnfinished'>
}

export function createRepository(options: RepositoryOptions): Repository {
  const { ledger, objects, maxFiles, garbageDelayMs } = options

  async function stat({ userId, name, viewer }: ReadFile): Promise<File> {
    const seenBy = audienceOf(userId, viewer)
    const { audience, userCreatedAt } = seenBy
    const file = await ledger.findFile({ userId, name, audience, userCreatedAt })
    if (file !== undefined) return file
    await requireActive(userId, seenBy)
    throw fileNotFound()
  }

  /** Tells an inactive owner so instead of "not found": their token may stay cached as valid for a few seconds. */
  async function requireActive(userId: UserId, { audience, userCreatedAt }: SeenBy): Promise<void> {
    if (audience !== 'owner' || userCreatedAt === undefined) return
    const status = await statusOf(ledger, { userId, userCreatedAt })
    if (status !== 'active') throw inactiveUser(status)
  }

  async function list(page: ListRepository): Promise<ListedFiles> {
    const { userId, viewer, prefix, contains, rollUp, hidesOthers, order, after, limit } = page
    const seenBy = audienceOf(userId, viewer)
    const found = await ledger.listFiles({
      userId,
      userCreatedAt: seenBy.userCreatedAt,
      audience: seenBy.audience,
      prefix,
      contains,
      rollUp,
      hidesOthers,
      order,
      after,
      limit,
      maxScanned: MAX_SCANNED_FILES,
    })
    const isEmpty = found.files.length === 0 && found.prefixes.length === 0
    if (isEmpty) await requireActive(userId, seenBy)
    return found
  }

  const uploads = createUploads(options)
  return {
    upload: (upload) => uploads.upload(upload),
    admit: (upload) => uploads.admit(upload),
    stat,
    open: (file) =>
      openContent({ objects, find: () => stat(file), select: file.select, signal: file.signal }),
    list,
    async reportCapacity({ userId, userCreatedAt }) {
      const report = await ledger.reportCapacity(userId, userCreatedAt)
      if (report === undefined) throw inactiveUser(undefined)
      return { ...report, unfinished: await ledger.measureUnfinished(userId) }
    },
    async remove({ userId, userCreatedAt, credential, reverify, name, precondition }) {
      await reverify()
      const caller = { userId, userCreatedAt, credential }
      await ledger.deleteFile({ ...caller, name, precondition, garbageDelayMs })
    },
    async change(change) {
      await change.reverify()
      return await ledger.updateFile({
        userId: change.userId,
        userCreatedAt: change.userCreatedAt,
        credential: change.credential,
        name: change.name,
        newName: change.newName,
        visibility: change.visibility,
        isKept: change.isKept,
        expiresAt: change.expiresAt,
        mediaType: change.mediaType,
        metadata: change.metadata,
        overwrite: change.overwrite,
        precondition: change.precondition,
        garbageDelayMs,
      })
    },
    async changeAll({ userId, userCreatedAt, credential, reverify, operations }) {
      await reverify()
      return await ledger.changeFiles({
        userId,
        userCreatedAt,
        credential,
        operations,
        maxFiles: limitFor(maxFiles, credential),
        garbageDelayMs,
      })
    },
  }
}

interface SeenBy {
  readonly audience: Audience
  readonly userCreatedAt?: number
}

function audienceOf(owner: UserId, viewer: Caller | undefined): SeenBy {
  if (viewer === undefined) return { audience: 'anyone' }
  if (viewer.userId !== owner) return { audience: 'users' }
  return { audience: 'owner', userCreatedAt: viewer.userCreatedAt }
}
