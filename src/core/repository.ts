import type { Readable } from 'node:stream'
import { fileTooLarge } from './byte-meter.ts'
import { availableBytes, capacityExceeded, fileCountExceeded } from './capacity.ts'
import { AppError, isAppError } from './errors.ts'
import type { File, Visibility } from './file.ts'
import type { FileName } from './file-name.ts'
import type { CommittedUpload, CommitUpload, Ledger } from './ledger.ts'
import { objectKey, type ObjectKey } from './object-key.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'
import { receiveContent, type IncomingFile } from './receive-content.ts'
import { reserve } from './reservation.ts'
import type { UserId } from './user-id.ts'
import { createVersion, type Version } from './version.ts'

export interface RepositoryOptions {
  readonly ledger: Ledger
  readonly objects: ObjectStore
  /** Bytes of the largest file. */
  readonly maxFileSize: number
  /** Files that one user may have. */
  readonly maxFiles: number
  /** How long a reservation outlives its process, in milliseconds. */
  readonly leaseMs: number
  /** How long a replaced object is kept for readers that found it before, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface UploadFile {
  readonly userId: UserId
  readonly name: FileName
  /** `undefined` keeps that of the file being replaced, and is `private` for a new one. */
  readonly visibility: Visibility | undefined
  readonly incoming: IncomingFile
  readonly signal: AbortSignal
}

export interface AdmitFile {
  readonly userId: UserId
  readonly name: FileName
  /** The smallest size that the file can have, in bytes. */
  readonly least: number
}

export interface ReadFile {
  readonly userId: UserId
  readonly name: FileName
  /** Whose access token came with the request, or `undefined` without one. */
  readonly viewer: UserId | undefined
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
   * `undefined` when nothing was selected. Else the caller reads it to its end or destroys it; it fails, and never
   * just ends, when bytes are missing.
   */
  readonly body: Readable | undefined
}

/** The use cases on files. */
export interface Repository {
  /**
   * Guarantees, once it resolves, that the file is durable and that every later download returns exactly these
   * bytes (I1); when it rejects, that nothing anyone can see has changed (I2) — unless it rejects with
   * `unavailable`, when the upload may have taken effect whole. The life of an upload is in ARCHITECTURE.md.
   * Rejects with what `incoming` rejects with, `file_too_large`, and what `Ledger.begin` rejects with.
   */
  upload(upload: UploadFile): Promise<CommittedUpload>

  /**
   * Rejects as `upload` would if it is certain by now that a file of at least `least` bytes is refused. It reserves
   * nothing: it only spares a client that asked first (`Expect: 100-continue`) from sending in vain.
   */
  admit(upload: AdmitFile): Promise<void>

  /**
   * The file, if the viewer may see it. Rejects with the same `not_found` for a file that is not there, one that
   * the viewer may not see, and a user that does not exist.
   */
  stat(file: ReadFile): Promise<File>

  /**
   * As `stat`, with the content opened: what `select` says of the file as it is at that moment. It is asked again when an
   * overwrite took the object away in between, so that what it decided and what is read are of one version. Rejects
   * with what `select` throws, and with `internal_error` when a file's object is missing or of another size.
   */
  open(file: OpenFile): Promise<OpenedFile>
}

export function createRepository(options: RepositoryOptions): Repository {
  const { ledger, objects, maxFileSize, maxFiles, leaseMs, garbageDelayMs } = options

  async function upload(request: UploadFile): Promise<CommittedUpload> {
    const { userId, name, incoming, signal } = request
    if (incoming.size.least > maxFileSize) throw fileTooLarge(maxFileSize)
    const version = createVersion()
    const key = objectKey(userId, version)
    const begun = { userId, name, version, objectKey: key, leaseMs, maxFiles }
    const reservation = await reserve({ ledger, upload: begun, ...incoming.size })
    try {
      const received = await receiveContent({
        objects,
        key,
        metadata: { name: encodeURIComponent(name) },
        incoming,
        maxBytes: maxFileSize,
        onBytes: (total) => reservation.cover(total),
        signal: AbortSignal.any([signal, reservation.lost]),
      })
      const { visibility } = request
      return await commit({ userId, version, ...received, visibility, maxFiles, garbageDelayMs })
    } catch (error) {
      await undo({ userId, version, key })
      throw error
    } finally {
      reservation.stop()
    }
  }

  /** Commits, and when the outcome is unknown has the ledger settle it: its compare-and-set lets one side win. */
  async function commit(upload: CommitUpload): Promise<CommittedUpload> {
    try {
      return await ledger.commit(upload)
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      if ((await ledger.abort(upload)) === 'committed') return ledger.commit(upload)
      throw error
    }
  }

  /** Best effort: what it can't do now, the sweeper does when the lease has ended. */
  async function undo(upload: { userId: UserId; version: Version; key: ObjectKey }): Promise<void> {
    try {
      // Never delete on doubt: only after the abort has won can no commit make this object a file's.
      if ((await ledger.abort(upload)) !== 'aborted') return
      await objects.remove({ key: upload.key, signal: AbortSignal.timeout(UNDO_TIMEOUT_MS) })
    } catch {
      // The caller's own error says what went wrong; the journal still holds the upload.
    }
  }

  async function admit({ userId, name, least }: AdmitFile): Promise<void> {
    if (least > maxFileSize) throw fileTooLarge(maxFileSize)
    const [usage, old] = await Promise.all([
      ledger.usage(userId),
      ledger.findFile({ userId, name }),
    ])
    if (usage === undefined) return
    if (old === undefined && usage.fileCount >= maxFiles) throw fileCountExceeded(usage, maxFiles)
    const growth = least - (old?.size ?? 0)
    if (growth > 0 && growth > availableBytes(usage)) throw capacityExceeded(usage, least)
  }

  async function stat({ userId, name, viewer }: ReadFile): Promise<File> {
    const file = await ledger.findFile({ userId, name })
    if (file === undefined || !maySee(file, viewer)) {
      throw new AppError('not_found', 'There is no such file.')
    }
    return file
  }

  async function open(request: OpenFile): Promise<OpenedFile> {
    const { select = () => 'whole', signal } = request
    let missing: Version | undefined
    for (;;) {
      const file = await stat(request)
      // The same version twice without its object: it was not an overwrite that took the object away.
      if (file.version === missing) throw lostObject(file)
      const selection = select(file)
      if (selection === 'nothing') return { file, selection, body: undefined }
      const range = selection === 'whole' ? {} : { range: selection }
      const opened = await objects.open({ key: file.objectKey, ...range, signal })
      if (opened?.size === file.size) return { file, selection, body: opened.body }
      opened?.body.destroy()
      missing = file.version
    }
  }

  return { upload, admit, stat, open }
}

const UNDO_TIMEOUT_MS = 5_000

function maySee(file: File, viewer: UserId | undefined): boolean {
  switch (file.visibility) {
    case 'public':
      return true
    case 'users':
      return viewer !== undefined
    case 'private':
      return viewer === file.userId
  }
}

function lostObject(file: File): AppError {
  return new AppError('internal_error', 'The content of this file can not be read.', {
    cause: new Error(`object ${file.objectKey} is missing or not ${file.size} bytes`),
  })
}
