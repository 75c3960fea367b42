import type { Readable } from 'node:stream'
import { type AuthorizedCaller, type Caller, inactiveUser, statusOf } from '../users/caller.ts'
import { cutPage } from '../pagination.ts'
import { AppError } from '../errors.ts'
import { fileNotFound, type File, type Visibility } from './file.ts'
import type { FileName, FileNamePrefix } from './file-name.ts'
import {
  type Audience,
  type FileOrder,
  type FilePosition,
  MAX_SCANNED_FILES,
  positionOf,
} from './listing.ts'
import type { CapacityReport, AccountLedger } from '../users/account-ledger.ts'
import type { FileLedger } from './file-ledger.ts'
import { discardBody, type ByteRange, type OpenedObject } from '../objects/object-store.ts'
import type { Unfinished, ResumableLedger } from '../resumable/resumable-ledger.ts'
import type { Precondition } from './precondition.ts'
import { createUploads, type Uploads, type UploadsOptions } from '../uploads/upload.ts'
import type { UserId } from '../users/user-id.ts'
import type { Version } from '../objects/object-key.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'

export interface ListRepository {
  readonly userId: UserId
  readonly prefix: FileNamePrefix
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  readonly limit: number
  /** `undefined` without an access token. */
  readonly viewer: Caller | undefined
}

export interface FilePage {
  /** Can be fewer than the limit, or none, before the last page. */
  readonly files: readonly File[]
  /** `undefined` on the last page. */
  readonly next: FilePosition | undefined
}

export interface ReadFile {
  readonly userId: UserId
  readonly name: FileName
  readonly viewer: Caller | undefined
}

export type Selection = 'whole' | 'nothing' | ByteRange

export interface OpenFile extends ReadFile {
  /** Decides which bytes of the version that `open` returns are opened; all of them by default. May throw. */
  readonly select?: (file: File) => Selection
  readonly signal: AbortSignal
}

export interface OpenedFile {
  readonly file: File
  readonly selection: Selection
  /** `undefined` if nothing was selected or `content` is set. Otherwise as `OpenedObject.body`. */
  readonly body: Readable | undefined
  /** The selected bytes, if they are already in memory. */
  readonly content?: Uint8Array | undefined
  readonly release?: OpenedObject['release']
}

export interface DeleteOwnFile extends AuthorizedCaller {
  readonly name: FileName
  readonly precondition?: Precondition | undefined
}

export interface UpdateOwnFile extends DeleteOwnFile {
  /** `undefined` keeps the name; the same holds for `visibility`. */
  readonly newName: FileName | undefined
  readonly visibility: Visibility | undefined
  readonly overwrite: boolean
}

export interface Repository extends Uploads {
  /**
   * Rejects with the same `not_found` for a missing file, a hidden file and an unknown user. Tells an inactive owner
   * that the account is inactive.
   */
  stat(file: ReadFile): Promise<File>

  /**
   * As `stat`, and opens what `select` chooses. After an overwrite in between, `select` runs again on the new version.
   * Rejects with the error of `select`, with `internal_error` if the object has another size, and with `unavailable`
   * (cause `MissingObject`) if the store has no object.
   */
  open(file: OpenFile): Promise<OpenedFile>

  /** The files that the viewer may download; all of them for the owner. Empty for an unknown user. */
  list(page: ListRepository): Promise<FilePage>

  /**
   * See `AccountLedger.reportCapacity` and, read right after it, `ResumableLedger.measureUnfinished`. Rejects with
   * `access_token_invalid` for a deleted caller.
   */
  reportCapacity(caller: Caller): Promise<CapacityReport & { readonly unfinished: Unfinished }>

  /** See `FileLedger.deleteFile`. Reverifies the caller first. Running downloads continue. */
  remove(file: DeleteOwnFile): Promise<void>

  /** See `FileLedger.updateFile`. Reverifies the caller first. Touches no object, so the file's size does not matter. */
  change(change: UpdateOwnFile): Promise<File>
}

export interface RepositoryOptions extends UploadsOptions {
  readonly ledger: UploadLedger &
    FileLedger &
    AccountLedger &
    Pick<ResumableLedger, 'measureUnfinished'>
}

export function createRepository(options: RepositoryOptions): Repository {
  const { ledger, objects, garbageDelayMs } = options

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

  async function open(request: OpenFile): Promise<OpenedFile> {
    const { select = () => 'whole', signal } = request
    let missing: Version | undefined
    for (;;) {
      const file = await stat(request)
      const selection = select(file)
      if (selection === 'nothing') return { file, selection, body: undefined }
      const range = selection === 'whole' ? undefined : selection
      const opened = await objects.open({ key: file.objectKey, range, signal })
      if (opened?.size === file.size) {
        const { body, release } = opened
        return body instanceof Uint8Array
          ? { file, selection, body: undefined, content: body }
          : { file, selection, body, release }
      }
      if (opened !== undefined) throw wrongSize(file, opened)
      // After an overwrite, the row already has the new object.
      if (file.version === missing) throw missingObject(file)
      missing = file.version
    }
  }

  async function list(page: ListRepository): Promise<FilePage> {
    const { userId, viewer, prefix, order, after, limit } = page
    const seenBy = audienceOf(userId, viewer)
    const found = await ledger.listFiles({
      userId,
      userCreatedAt: seenBy.userCreatedAt,
      audience: seenBy.audience,
      prefix,
      order,
      after,
      limit: limit + 1,
      maxScanned: MAX_SCANNED_FILES,
    })
    const { page: files, last } = cutPage(found.files, limit)
    if (files.length === 0) await requireActive(userId, seenBy)
    return { files, next: last === undefined ? found.scannedTo : positionOf(last, order) }
  }

  const uploads = createUploads(options)
  return {
    upload: (upload) => uploads.upload(upload),
    admit: (upload) => uploads.admit(upload),
    stat,
    open,
    list,
    async reportCapacity({ userId, userCreatedAt }) {
      const report = await ledger.reportCapacity(userId, userCreatedAt)
      if (report === undefined) throw inactiveUser(undefined)
      return { ...report, unfinished: await ledger.measureUnfinished(userId) }
    },
    async remove({ userId, userCreatedAt, reverify, name, precondition }) {
      await reverify()
      await ledger.deleteFile({ userId, userCreatedAt, name, precondition, garbageDelayMs })
    },
    async change({ userId, userCreatedAt, reverify, name, precondition, ...change }) {
      await reverify()
      const { newName, visibility, overwrite } = change
      return await ledger.updateFile({
        userId,
        userCreatedAt,
        name,
        precondition,
        newName,
        visibility,
        overwrite,
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

/** The store reports a file's object as missing: the object is lost, or too few nodes are up to find it. */
export class MissingObject extends Error {
  constructor({ objectKey }: File) {
    super(`object ${objectKey} is missing`)
    this.name = 'MissingObject'
  }
}

function missingObject(file: File): AppError {
  return new AppError('unavailable', 'The content of this file is currently unavailable.', {
    cause: new MissingObject(file),
  })
}

function wrongSize({ objectKey, size }: File, opened: OpenedObject): AppError {
  discardBody(opened)
  return new AppError('internal_error', 'The content of this file cannot be read.', {
    cause: new Error(`object ${objectKey} has ${opened.size} bytes instead of ${size}`),
  })
}
