import { accessRefusal, actorOf, linkIdOf, type Subject, watchAccess } from '../auth/subject.ts'
import { settledWithin, timeoutSignal } from '../async/deadline.ts'
import { isAppError } from '../errors.ts'
import type { Visibility } from '../files/file.ts'
import { assertMayHold, contentFault, type FileName } from '../files/file-name.ts'
import type { MediaType } from '../files/media-type.ts'
import type { Metadata } from '../files/metadata.ts'
import {
  type AbortUpload,
  type CommittedUpload,
  type CommitUpload,
  LEASE_MS,
  type Retention,
  type UploadLedger,
} from './upload-ledger.ts'
import { type FreeSpace, insufficientStorage, type SpaceClaim } from './free-space.ts'
import { objectKey, type ObjectKey, createVersion } from '../objects/object-key.ts'
import { objectMetadata } from '../files/object-metadata.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { isMet, type Precondition } from '../files/precondition.ts'
import {
  digestMismatch,
  type IncomingFile,
  storeContent,
  type StoredContent,
} from './store-content.ts'
import { fileTooLarge } from './byte-meter.ts'
import { reserve } from './reservation.ts'
import type { UploadMemory } from '../memory/upload-memory.ts'
import type { FileLedger } from '../files/file-ledger.ts'

/** What resumable uploads need as well. */
export interface StorageOptions {
  readonly ledger: UploadLedger & FileLedger
  readonly objects: ObjectStore
  readonly memory: UploadMemory
  readonly space?: FreeSpace | undefined
  /** Maximum size of a file in bytes. */
  readonly maxFileSize: number
  readonly reverifyMs?: number | undefined
}

export interface UploadsOptions extends StorageOptions {
  /** How long a reservation lasts after its process has ended, as the ledger has it; `LEASE_MS` by default. */
  readonly leaseMs?: number | undefined
  readonly undoMs?: number
  /** Deadline for the commit and for settling an unknown outcome; 35 s by default. */
  readonly commitMs?: number
}

/** What is known of an upload before its content. */
export interface UploadTarget extends Retention {
  readonly subject: Subject
  readonly name: FileName
  /** Expected digest of the whole content: 64 lower-case hexadecimal digits. */
  readonly sha256?: string | undefined
  readonly precondition?: Precondition | undefined
}

export interface UploadFile extends UploadTarget {
  /**
   * Called once, after the end of the request. If it throws, the upload is refused. `undefined` keeps the visibility of the
   * replaced file; a new file is private.
   */
  readonly visibility: () => Visibility | undefined
  readonly mediaType?: MediaType | null | undefined
  /**
   * Called twice: before the content goes to the store, whose object has the fields seen so far, and before the commit,
   * with all of them. `undefined` keeps the metadata of the replaced file.
   */
  readonly metadata?: () => Metadata | undefined
  readonly incoming: IncomingFile
  readonly signal: AbortSignal
}

export interface AdmitFile extends UploadTarget {
  /** Lower bound of the file size in bytes. */
  readonly min: number
}

/** Implements the life of an upload (ARCHITECTURE.md). */
export function createUploads(options: UploadsOptions) {
  const { ledger, objects, memory, space, maxFileSize } = options
  const { leaseMs = LEASE_MS, reverifyMs = REVERIFY_MS, undoMs = UNDO_MS } = options
  const { commitMs = COMMIT_MS } = options

  /**
   * Guarantees, when it resolves, that the file is durable and every later download returns exactly these bytes (I1).
   * When it rejects, nothing visible has changed (I2), except with `unavailable`: the upload may have taken effect as a
   * whole. Rejects with `file_too_large`, `digest_mismatch` and `insufficient_storage`; as `assertMayHold`, `incoming`,
   * `visibility` and `UploadLedger.begin` do; and as `reverify` does if the caller loses access before the commit.
   */
  async function upload(request: UploadFile): Promise<CommittedUpload> {
    const { subject, name, mediaType, precondition, incoming, signal } = request
    const { evict, expiresInMs } = request
    const { userId, credential, deviceId } = subject
    const linkId = linkIdOf(subject)
    const { min, announced: expectedBytes = min } = incoming.size
    await assertAcceptable(options, request, { min, expectedBytes })
    using allocation = await memory.allocate({ userId, credential, signal })
    const version = createVersion()
    const key = objectKey(userId, version)
    const terms = { ...actorOf(subject), version, precondition, linkId, evict }
    const begun = { ...terms, name, objectKey: key }
    using reservation = await reserve({ ledger, upload: begun, leaseMs, size: incoming.size })
    using access = watchAccess(subject, reverifyMs)
    let isUntouched = false
    let answerBy = Infinity
    let claim: SpaceClaim | undefined
    try {
      // After the quota check: a user without quota must not claim space.
      claim = await space?.claim(expectedBytes)
      const storing = storeContent({
        objects,
        key,
        metadata: () =>
          objectMetadata({ name, mediaType, metadata: request.metadata?.(), deviceId }),
        incoming,
        memory: allocation,
        maxBytes: maxFileSize,
        onBytes: (total) => {
          const fault = contentFault(name, total)
          if (fault !== undefined) return Promise.reject(fault)
          return space?.hasSpace() === false
            ? Promise.reject(insufficientStorage())
            : reservation.cover(total)
        },
        onUntouched: () => (isUntouched = true),
        signal: AbortSignal.any([signal, reservation.lost, allocation.evicted, access.lost]),
      })
      const { size, sha256, crc32 } = await verified(storing, request)
      const visibility = request.visibility()
      const metadata = request.metadata?.()
      await subject.reverify()
      answerBy = performance.now() + commitMs
      const content = { size, sha256, crc32, visibility, mediaType, metadata, expiresInMs }
      return await commit({ ...terms, ...content }, answerBy)
    } catch (error) {
      claim?.release()
      // If the database hangs, the client has waited already; the cleanup continues without it.
      const undoBy = Math.min(answerBy, performance.now() + undoMs)
      await settledWithin(undoBy - performance.now(), undo({ userId, version, key, isUntouched }))
      throw error
    }
  }

  /** Rejects with `digest_mismatch`, and as `reverify` if the caller has lost access meanwhile. */
  async function verified(
    content: Promise<StoredContent>,
    { sha256, subject }: UploadFile,
  ): Promise<StoredContent> {
    const stored = await content.catch(async (error: unknown) => {
      // The objects of a deleted user may be gone already, which looks like a failure of the store.
      throw isAppError(error, 'unavailable')
        ? ((await accessRefusal(subject.reverify)) ?? error)
        : error
    })
    if (sha256 === undefined || sha256 === stored.sha256) return stored
    throw digestMismatch(stored.sha256)
  }

  /** Settles an unknown outcome by the ledger's compare-and-set. Rejects after `answerBy`; settling then continues. */
  async function commit(upload: CommitUpload, answerBy: number): Promise<CommittedUpload> {
    try {
      return await ledger.commit(upload)
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      // After a pause of the process the deadline may have passed before the ledger was asked.
      const settleBy = Math.max(answerBy, performance.now() + undoMs)
      const committed = await settledWithin(settleBy - performance.now(), settle(upload))
      if (committed === undefined) throw error
      return committed
    }
  }

  async function settle(upload: CommitUpload): Promise<CommittedUpload | undefined> {
    return (await ledger.abort(upload)) === 'committed' ? ledger.commit(upload) : undefined
  }

  async function undo(upload: AbortUpload & { readonly key: ObjectKey }): Promise<void> {
    try {
      // Never delete on doubt: only a won abort excludes that a commit refers to this object.
      if ((await ledger.abort(upload)) !== 'aborted' || upload.isUntouched) return
      await objects.remove({ key: upload.key, signal: timeoutSignal(UNDO_TIMEOUT_MS) })
    } catch {
      // The caller's error matters more; the sweeper settles the upload when its lease has ended.
    }
  }

  /** Rejects if `upload` would certainly refuse `min` or more bytes. For `Expect: 100-continue`. Reserves nothing. */
  async function admit(request: AdmitFile): Promise<void> {
    const { subject, name, min: bytes, precondition, evict } = request
    await assertAcceptable(options, request, { min: bytes, expectedBytes: bytes })
    await ledger.checkBegin({ ...actorOf(subject), name, bytes, precondition, evict })
  }

  return { upload, admit }
}

/**
 * Rejects as `assertMayHold`, and with the other refusals that need no reservation unless the precondition fails, which
 * the ledger reports.
 */
export async function assertAcceptable(
  { ledger, space, maxFileSize }: Pick<StorageOptions, 'ledger' | 'space' | 'maxFileSize'>,
  { subject, name, precondition }: Pick<UploadTarget, 'subject' | 'name' | 'precondition'>,
  { min, expectedBytes }: { readonly min: number; readonly expectedBytes: number },
): Promise<void> {
  assertMayHold(name, min)
  if (precondition !== undefined) {
    const file = await ledger.findFile({ ...actorOf(subject), name, audience: 'owner' })
    if (!isMet(precondition, file)) return
  }
  if (min > maxFileSize) throw fileTooLarge(maxFileSize)
  await space?.assertSpace(expectedBytes)
}

/** With the 5 s token cache, a stolen token's upload ends within 10 s of the revocation. */
export const REVERIFY_MS = 5_000

const UNDO_TIMEOUT_MS = 3_000
const UNDO_MS = 5_000

/** The ledger's longest deadline plus the time for settling. */
const COMMIT_MS = 30_000 + UNDO_MS
