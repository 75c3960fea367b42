import type { Readable } from 'node:stream'
import { type AuthorizedCaller, type Caller, inactiveUser } from '../users/caller.ts'
import { cutPage } from '../pagination.ts'
import { AppError } from '../errors.ts'
import { fileNotFound, type File } from './file.ts'
import type { FileName } from './file-name.ts'
import { type FilePosition, positionOf } from './listing.ts'
import type {
  CapacityReport,
  ChangeFile,
  FindFile,
  ListFiles,
  RemoveFile,
} from '../ledger/ledger.ts'
import { discardBody, type ByteRange, type OpenedObject } from '../objects/object-store.ts'
import { sleep } from '../async/sleep.ts'
import { createUploads, type Uploads, type UploadsOptions } from '../uploads/upload.ts'
import type { UserId } from '../users/user-id.ts'
import type { Version } from '../objects/object-key.ts'

export interface ListRepository extends Omit<ListFiles, 'audience' | 'userCreatedAt'> {
  /** Whose access token came with the request, or `undefined` without one. */
  readonly viewer: Caller | undefined
}

export interface FilePage {
  readonly files: readonly File[]
  /** Where the next page begins; `undefined` when there is none. */
  readonly next: FilePosition | undefined
}

export interface ReadFile {
  readonly userId: UserId
  readonly name: FileName
  /** Whose access token came with the request, or `undefined` without one. */
  readonly viewer: Caller | undefined
}

/** What of a file's content to open. */
export type Selection = 'whole' | 'nothing' | ByteRange

export interface OpenFile extends ReadFile {
  /** Decides, for the very file that is then answered, what of it to open; the whole when left out. May throw. */
  readonly select?: (file: File) => Selection
  readonly signal: AbortSignal
}

export interface OpenedFile {
  readonly file: File
  readonly selection: Selection
  /**
   * `undefined` when nothing was selected, or `content` has it. Else the caller reads it to its end or destroys it; it
   * fails, and never just ends, when bytes are missing.
   */
  readonly body: Readable | undefined
  /** What was selected, where all of it is there already. */
  readonly content?: Uint8Array | undefined
  /** As `OpenedObject` has it. */
  readonly release?: OpenedObject['release']
}

export type DeleteOwnFile = Omit<RemoveFile, 'garbageDelayMs'> & AuthorizedCaller

export type UpdateOwnFile = Omit<ChangeFile, 'garbageDelayMs'> & AuthorizedCaller

/** The use cases on files. */
export interface Repository extends Uploads {
  /**
   * The file, if the viewer may see it. Rejects with the same `not_found` for a file that is not there, one that
   * the viewer may not see, and a user that does not exist; to an owner who is suspended or deleted it says so.
   */
  stat(file: ReadFile): Promise<File>

  /**
   * As `stat`, with the content opened: what `select` says of the file as it is at that moment. It is asked again when
   * an overwrite took the object away in between, so that what it decided and what is read are of one version. Rejects
   * with what `select` throws, with `internal_error` when a file's object is of another size, and with `unavailable`, of
   * which a `MissingObject` is the cause, when the store keeps denying that there is one.
   */
  open(file: OpenFile): Promise<OpenedFile>

  /**
   * A page of a user's files, of which others see those that they may download: `users` and `public` ones with an
   * access token, `public` ones without. Empty for a user that does not exist. See `Ledger.listFiles`.
   */
  list(page: ListRepository): Promise<FilePage>

  /** See `Ledger.reportCapacity`; rejects with `access_token_invalid` for a caller who was deleted since. */
  reportCapacity(caller: Caller): Promise<CapacityReport>

  /** See `Ledger.removeFile`. The caller is verified again first. Downloads that have begun go on. */
  remove(file: DeleteOwnFile): Promise<void>

  /** See `Ledger.changeFile`. The caller is verified again first. No object is touched, so it costs the same for any size. */
  change(change: UpdateOwnFile): Promise<File>
}

export interface RepositoryOptions extends UploadsOptions {
  /**
   * How long to wait, each time that the store does not find the object of a file which is still the same, before it is asked
   * again, in milliseconds; about two seconds together when left out.
   */
  readonly missPausesMs?: readonly number[]
}

export function createRepository(options: RepositoryOptions): Repository {
  const { ledger, objects, garbageDelayMs, missPausesMs = MISS_PAUSES_MS } = options

  async function stat({ userId, name, viewer }: ReadFile): Promise<File> {
    const seenBy = audienceOf(userId, viewer)
    const file = await ledger.findFile({ userId, name, ...seenBy })
    if (file !== undefined) return file
    await requireActive(userId, seenBy)
    throw fileNotFound()
  }

  /**
   * The files of a suspended or deleted user are found by no one. Their owner, whose token may be remembered as valid for a
   * few seconds more, shall not take that for having none; nor shall they see the files of the next user of their id.
   */
  async function requireActive(userId: UserId, { audience, userCreatedAt }: SeenBy): Promise<void> {
    if (audience !== 'owner') return
    const user = (await ledger.findAccount(userId))?.user
    const status = user?.createdAt === userCreatedAt ? user?.status : undefined
    if (status !== 'active') throw inactiveUser(status)
  }

  async function open(request: OpenFile): Promise<OpenedFile> {
    const { select = () => 'whole', signal } = request
    let missing: Version | undefined
    let pauses: readonly number[] = []
    for (;;) {
      const file = await stat(request)
      const selection = select(file)
      if (selection === 'nothing') return { file, selection, body: undefined }
      const range = selection === 'whole' ? {} : { range: selection }
      const opened = await objects.open({ key: file.objectKey, ...range, signal })
      if (opened?.size === file.size) return openedFile(opened, { file, selection })
      if (opened !== undefined) throw wrongSize(file, opened)
      // An overwrite can have taken the object away, which the row says at once.
      if (file.version !== missing) pauses = [0, ...missPausesMs]
      missing = file.version
      const [ms, ...later] = pauses
      if (ms === undefined) throw missingObject(file)
      await sleep(ms, signal)
      pauses = later
    }
  }

  async function list({ viewer, ...page }: ListRepository): Promise<FilePage> {
    const seenBy = audienceOf(page.userId, viewer)
    const found = await ledger.listFiles({ ...page, ...seenBy, limit: page.limit + 1 })
    const { page: files, last } = cutPage(found, page.limit)
    if (files.length === 0) await requireActive(page.userId, seenBy)
    return { files, next: last && positionOf(last, page.order) }
  }

  return {
    ...createUploads(options),
    stat,
    open,
    list,
    async reportCapacity({ userId, userCreatedAt }) {
      const report = await ledger.reportCapacity(userId, userCreatedAt)
      if (report === undefined) throw inactiveUser(undefined)
      return report
    },
    async remove({ reverify, ...file }) {
      await reverify()
      await ledger.removeFile({ ...file, garbageDelayMs })
    },
    async change({ reverify, ...change }) {
      await reverify()
      return await ledger.changeFile({ ...change, garbageDelayMs })
    },
  }
}

function openedFile(opened: OpenedObject, of: Pick<OpenedFile, 'file' | 'selection'>): OpenedFile {
  const { body, release } = opened
  if (body instanceof Uint8Array) return { ...of, body: undefined, content: body }
  return { ...of, body, release }
}

type SeenBy = Pick<FindFile, 'audience' | 'userCreatedAt'>

/** Who sees the files of `owner`; where it is the owner, which of the users who have had that id one after the other. */
function audienceOf(owner: UserId, viewer: Caller | undefined): SeenBy {
  if (viewer === undefined) return { audience: 'anyone' }
  if (viewer.userId !== owner) return { audience: 'users' }
  return { audience: 'owner', userCreatedAt: viewer.userCreatedAt }
}

/** Each is for a node of the store that has not found the others yet; while too few are there, none is long enough. */
const MISS_PAUSES_MS = [100, 400, 1500]

/** The store denies an object that the books hold: it is lost, or the store is not whole and cannot know. */
export class MissingObject extends Error {
  constructor({ objectKey }: File) {
    super(`object ${objectKey} is missing`)
    this.name = 'MissingObject'
  }
}

function missingObject(file: File): AppError {
  return new AppError('unavailable', 'The content of this file can not be found at present.', {
    cause: new MissingObject(file),
  })
}

function wrongSize({ objectKey, size }: File, opened: OpenedObject): AppError {
  discardBody(opened)
  return new AppError('internal_error', 'The content of this file can not be read.', {
    cause: new Error(`object ${objectKey} has ${opened.size} bytes in place of ${size}`),
  })
}
