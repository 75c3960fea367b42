import {
  actorOf,
  type Operator,
  shownName,
  type Subject,
  type UserSubject,
  type Visitor,
} from './auth/subject.ts'
import { assertActive, inactiveUser } from './users/caller.ts'
import { fileNotFound, type File } from './files/file.ts'
import type { FileName } from './files/file-name.ts'
import {
  type Audience,
  type ListedFiles,
  type Listing,
  MAX_SCANNED_FILES,
} from './files/listing.ts'
import type { AccountLedger } from './users/account-ledger.ts'
import type { ChangedFiles, FileLedger } from './files/file-ledger.ts'
import { openContent, type SelectContent } from './files/open-content.ts'
import type { ResumableLedger } from './resumable/resumable-ledger.ts'
import type { BatchOperation, FileDeletion, FileUpdate } from './files/operation.ts'
import { createUploads, type UploadsOptions } from './uploads/upload.ts'
import type { Version } from './objects/object-key.ts'
import type { UserId } from './users/user-id.ts'
import type { UploadLedger } from './uploads/upload-ledger.ts'

export interface ListRepository extends Listing {
  /** `undefined` without an access token. */
  readonly viewer: Subject | undefined
}

export interface ReadFile {
  readonly userId: UserId
  readonly name: FileName
  readonly viewer: UserSubject | Visitor | undefined
}

export type OpenFile = ReadFile & SelectContent

export interface RemoveFile extends FileDeletion {
  readonly subject: Subject
}

export interface ChangeFile extends FileUpdate {
  readonly subject: Subject
}

export interface ChangeFiles {
  readonly subject: Subject
  readonly operations: readonly BatchOperation[]
}

export type Repository = ReturnType<typeof createRepository>

export interface RepositoryOptions extends UploadsOptions {
  readonly ledger: UploadLedger &
    FileLedger &
    AccountLedger &
    Pick<ResumableLedger, 'measureUnfinished'>
}

export function createRepository(options: RepositoryOptions) {
  const { ledger, objects } = options

  async function stat({ userId, name, viewer }: ReadFile): Promise<File> {
    const seenBy = audienceOf(userId, viewer)
    const { audience, userCreatedAt } = seenBy
    const file = await ledger.findFile({ userId, name, audience, userCreatedAt })
    if (file !== undefined) return viewer?.kind === 'visitor' ? shownTo(viewer, file) : file
    await requireActive(userId, seenBy)
    throw fileNotFound()
  }

  /** Tells an inactive owner so instead of "not found": their token may stay cached as valid for a few seconds. */
  async function requireActive(userId: UserId, { audience, userCreatedAt }: SeenBy): Promise<void> {
    if (audience !== 'owner' || userCreatedAt === undefined) return
    await assertActive(ledger, { userId, userCreatedAt })
  }

  async function list(page: ListRepository): Promise<ListedFiles> {
    const { viewer, ...listing } = page
    if (viewer?.kind === 'operator') return await listForOperator(viewer, listing)
    const seenBy = audienceOf(page.userId, viewer)
    const isOwner = seenBy.audience === 'owner'
    if (listing.deviceId !== undefined && !isOwner) return NO_FILES
    const found = await ledger.listFiles({ ...listing, ...seenBy, maxScanned: MAX_SCANNED_FILES })
    const isEmpty = found.files.length === 0 && found.prefixes.length === 0
    if (isEmpty) await requireActive(page.userId, seenBy)
    return isOwner ? found : { ...found, files: found.files.map(withoutDevice) }
  }

  async function listForOperator(
    { userCreatedAt }: Operator,
    listing: Listing,
  ): Promise<ListedFiles> {
    const seenBy = { audience: 'operator', userCreatedAt } as const
    return await ledger.listFiles({ ...listing, ...seenBy, maxScanned: MAX_SCANNED_FILES })
  }

  const uploads = createUploads(options)
  return {
    ...uploads,
    /**
     * Rejects with the same `not_found` for a missing file, a hidden file and an unknown user. Tells an inactive owner
     * that the account is inactive. A visitor gets the name that they know.
     */
    stat,
    /** As `stat` and `openContent`. After an overwrite in between, `select` runs again on the new version. */
    open: (file: OpenFile) =>
      openContent({ objects, find: () => stat(file), select: file.select, signal: file.signal }),
    /**
     * The files that the viewer may download; all of them for the owner and for operators, and to others without their
     * devices. Empty for an unknown user.
     */
    list,
    /**
     * See `AccountLedger.reportCapacity` and, read right after it, `ResumableLedger.measureUnfinished`. Rejects with
     * `access_token_invalid` for a deleted user.
     */
    async reportCapacity({ userId, userCreatedAt }: Subject) {
      const report = await ledger.reportCapacity(userId, userCreatedAt)
      if (report === undefined) throw inactiveUser(undefined)
      return { ...report, unfinished: await ledger.measureUnfinished(userId) }
    },
    /** See `FileLedger.deleteFile`. Reverifies the subject first. Running downloads continue. */
    async remove({ subject, name, precondition }: RemoveFile): Promise<Version> {
      await subject.reverify()
      const byOperator = subject.kind === 'operator'
      return await ledger.deleteFile({ ...actorOf(subject), name, precondition, byOperator })
    },
    /**
     * See `FileLedger.updateFile`. Reverifies the subject first. Touches no object, so the file's size does not matter.
     */
    async change(change: ChangeFile): Promise<File> {
      const { subject } = change
      await subject.reverify()
      return await ledger.updateFile({
        ...actorOf(subject),
        name: change.name,
        newName: change.newName,
        visibility: change.visibility,
        isKept: change.isKept,
        expiresAt: change.expiresAt,
        mediaType: change.mediaType,
        metadata: change.metadata,
        overwrite: change.overwrite,
        precondition: change.precondition,
      })
    },
    /** See `FileLedger.changeFiles`. Reverifies the subject first. Touches no content. */
    async changeAll({ subject, operations }: ChangeFiles): Promise<ChangedFiles> {
      await subject.reverify()
      return await ledger.changeFiles({ ...actorOf(subject), operations })
    },
  }
}

/** Under the name that visitors know. */
function shownTo(visitor: Visitor, file: File): File {
  const name = shownName(visitor, file.name)
  if (name === undefined) throw fileNotFound()
  return { ...file, name }
}

const NO_FILES: ListedFiles = { files: [], prefixes: [], next: undefined }

function withoutDevice(file: File): File {
  return { ...file, deviceId: null }
}

interface SeenBy {
  readonly audience: Audience
  readonly userCreatedAt?: number
}

function audienceOf(owner: UserId, viewer: ReadFile['viewer']): SeenBy {
  if (viewer === undefined) return { audience: 'anyone' }
  if (viewer.userId !== owner) return { audience: 'users' }
  return { audience: 'owner', userCreatedAt: viewer.userCreatedAt }
}
