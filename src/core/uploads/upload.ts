import { accessRefusal, type AuthorizedCaller, type Caller, watchAccess } from '../users/caller.ts'
import { settledWithin, timeoutSignal } from '../async/deadline.ts'
import { AppError, isAppError } from '../errors.ts'
import type { Visibility } from '../files/file.ts'
import type { FileName } from '../files/file-name.ts'
import type { AbortUpload, CommittedUpload, CommitUpload, Ledger } from '../ledger/ledger.ts'
import { type FreeSpace, insufficientStorage } from './free-space.ts'
import { objectKey, type ObjectKey, createVersion } from '../objects/object-key.ts'
import { objectMetadata } from '../objects/object-metadata.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { isMet, type Precondition } from '../files/precondition.ts'
import {
  fileTooLarge,
  type IncomingFile,
  storeContent,
  type StoreContentOptions,
  type StoredContent,
} from './store-content.ts'
import { reserve } from '../quota/reservation.ts'
import type { UploadMemory } from './memory/budget.ts'

export interface UploadsOptions {
  readonly ledger: Ledger
  readonly objects: ObjectStore
  readonly memory: UploadMemory
  /** Nothing is refused for want of space when left out. */
  readonly space?: FreeSpace | undefined
  /** Bytes of the largest file. */
  readonly maxFileSize: number
  /** Files that one user may have. */
  readonly maxFiles: number
  /** Uploads that one user may have under way, on all instances together. */
  readonly maxUploads: number
  /** How long a reservation outlives its process, in milliseconds. */
  readonly leaseMs: number
  /** How long a replaced object is kept for readers that found it before, in milliseconds. */
  readonly garbageDelayMs: number
  /** How often a caller is verified again while their file comes, in milliseconds; every 5 s when left out. */
  readonly reverifyMs?: number
  /** How long a refusal waits for what the upload left to be cleared away, in milliseconds; 5 s when left out. */
  readonly undoMs?: number
  /** How long, in milliseconds, committing may take with all that follows where its outcome is unknown; 35 s when left out. */
  readonly commitMs?: number
}

export interface UploadFile extends AuthorizedCaller {
  readonly name: FileName
  /**
   * Asked once the request has ended, since a form can say it after the file; what it throws refuses the upload.
   * `undefined` keeps that of the file being replaced, and is `private` for a new one.
   */
  readonly visibility: () => Visibility | undefined
  /** Of the whole content, 64 lower-case hexadecimal digits, when the client said it. */
  readonly sha256?: string | undefined
  readonly precondition?: Precondition | undefined
  readonly incoming: IncomingFile
  readonly signal: AbortSignal
}

export interface AdmitFile extends Caller {
  readonly name: FileName
  /** The smallest size that the file can have, in bytes. */
  readonly min: number
  readonly precondition?: Precondition | undefined
}

/** The use cases that bring a file in. */
export interface Uploads {
  /**
   * Guarantees, once it resolves, that the file is durable and that every later download returns exactly these
   * bytes (I1); when it rejects, that nothing anyone can see has changed (I2) — unless it rejects with
   * `unavailable`, when the upload may have taken effect whole. The life of an upload is in ARCHITECTURE.md.
   * Rejects with what `incoming` and `visibility` do, `file_too_large`, `digest_mismatch`, `insufficient_storage`, and as `Ledger.begin` does.
   *
   * The caller is verified again while the file comes, which a refusal ends early, and right before the commit: an upload
   * whose token was revoked or whose user was suspended or deleted meanwhile rejects as `reverify` does.
   */
  upload(upload: UploadFile): Promise<CommittedUpload>

  /**
   * Rejects as `upload` would if it is certain by now that a file of at least `min` bytes is refused. It reserves
   * nothing: it only spares a client that asked first (`Expect: 100-continue`) from sending in vain.
   */
  admit(upload: AdmitFile): Promise<void>
}

/** The life of an upload (ARCHITECTURE.md), as `Uploads` promises it. */
export function createUploads(options: UploadsOptions): Uploads {
  const { ledger, objects, memory, space, maxFileSize, maxFiles, maxUploads } = options
  const { leaseMs, garbageDelayMs, reverifyMs = REVERIFY_MS, undoMs = UNDO_MS } = options
  const { commitMs = COMMIT_MS } = options

  async function upload(request: UploadFile): Promise<CommittedUpload> {
    const { userId, userCreatedAt, name, precondition, incoming, signal } = request
    const { min, announced: expectedBytes = min } = incoming.size
    await assertAcceptable(request, { min, expectedBytes })
    using allocation = await memory.admit({ userId, signal })
    const version = createVersion()
    const key = objectKey(userId, version)
    const terms = { userId, userCreatedAt, version, maxFiles, precondition }
    const begun = { ...terms, name, objectKey: key, maxUploads, leaseMs }
    using reservation = await reserve({ ledger, upload: begun, ...incoming.size })
    using access = watchAccess(request, reverifyMs)
    let isUntouched = false
    let answerBy = Infinity
    let giveBackSpace: (() => void) | undefined
    try {
      // Now that the quota has room: whoever has none takes no room from others.
      giveBackSpace = await space?.request(expectedBytes)
      const stored = await receive(request, {
        key,
        memory: allocation,
        onBytes: (total) =>
          space?.hasRoom() === false
            ? Promise.reject(insufficientStorage())
            : reservation.cover(total),
        onUntouched: () => (isUntouched = true),
        signal: AbortSignal.any([signal, reservation.lost, allocation.taken, access.lost]),
      })
      const visibility = request.visibility()
      await request.reverify()
      answerBy = performance.now() + commitMs
      return await commit({ ...terms, ...stored, visibility, garbageDelayMs }, answerBy)
    } catch (error) {
      giveBackSpace?.()
      // A database that hangs has kept the client waiting already; the undoing goes on without it.
      const undoBy = Math.min(answerBy, performance.now() + undoMs)
      await settledWithin(undoBy - performance.now(), undo({ userId, version, key, isUntouched }))
      throw error
    }
  }

  /** Stores the content, which has the digest that the client said. */
  async function receive(
    { name, incoming, sha256, reverify }: UploadFile,
    to: Pick<StoreContentOptions, 'key' | 'memory' | 'onBytes' | 'onUntouched' | 'signal'>,
  ): Promise<StoredContent> {
    const metadata = objectMetadata(name)
    const content = storeContent({ ...to, objects, metadata, incoming, maxBytes: maxFileSize })
    const stored = await content.catch(async (error: unknown) => {
      // What a deleted user's upload had stored may be gone already, which looks like a failure of ours.
      throw isAppError(error, 'unavailable') ? ((await accessRefusal(reverify)) ?? error) : error
    })
    if (sha256 === undefined || sha256 === stored.sha256) return stored
    throw new AppError('digest_mismatch', 'The content does not have the digest that was sent.', {
      facts: { sha256: stored.sha256 },
    })
  }

  /**
   * Commits, and when the outcome is unknown has the ledger settle it. Where that is not answered by `answerBy`, the upload
   * is refused while it goes on: which side has won is the ledger's, whoever still waits.
   */
  async function commit(upload: CommitUpload, answerBy: number): Promise<CommittedUpload> {
    try {
      return await ledger.commit(upload)
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      // After a pause of the whole process the time is over though nobody was asked.
      const settleBy = Math.max(answerBy, performance.now() + undoMs)
      const committed = await settledWithin(settleBy - performance.now(), settle(upload))
      if (committed === undefined) throw error
      return committed
    }
  }

  /** What the commit has made, if it had won; else the upload is aborted. The ledger's compare-and-set lets one side win. */
  async function settle(upload: CommitUpload): Promise<CommittedUpload | undefined> {
    return (await ledger.abort(upload)) === 'committed' ? ledger.commit(upload) : undefined
  }

  /** Best effort: what it can't do now, the sweeper does when the lease has ended. */
  async function undo(upload: AbortUpload & { readonly key: ObjectKey }): Promise<void> {
    try {
      // Never delete on doubt: only after the abort has won can no commit make this object a file's.
      if ((await ledger.abort(upload)) !== 'aborted' || upload.isUntouched) return
      await objects.remove({ key: upload.key, signal: timeoutSignal(UNDO_TIMEOUT_MS) })
    } catch {
      // The caller's own error says what went wrong; the journal still holds the upload.
    }
  }

  /** Where the precondition is not met it says nothing: then the ledger does, or what comes before that. */
  async function assertAcceptable(
    request: Pick<UploadFile, 'userId' | 'userCreatedAt' | 'name' | 'precondition'>,
    { min, expectedBytes }: { readonly min: number; readonly expectedBytes: number },
  ): Promise<void> {
    const { precondition } = request
    if (precondition !== undefined) {
      const file = await ledger.findFile({ ...request, audience: 'owner' })
      if (!isMet(precondition, file)) return
    }
    if (min > maxFileSize) throw fileTooLarge(maxFileSize)
    await space?.assertRoom(expectedBytes)
  }

  async function admit(request: AdmitFile): Promise<void> {
    const { min } = request
    await assertAcceptable(request, { min, expectedBytes: min })
    await ledger.checkBegin({ ...request, bytes: min, maxFiles, maxUploads })
  }

  return { upload, admit }
}

/** Together with the 5 s for which an answer about a token is kept, a stolen token's upload ends within 10 s. */
const REVERIFY_MS = 5_000

/** The client waits for it, and the next sweep does what it could not. */
const UNDO_TIMEOUT_MS = 3_000
const UNDO_MS = 5_000

/** The ledger gives up on an answer after 30 s at most, and settling has as long as undoing. */
const COMMIT_MS = 30_000 + UNDO_MS
