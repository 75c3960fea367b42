import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { isAppError } from '../errors.ts'
import type { PendingUpload, UploadLedger } from '../uploads/upload-ledger.ts'
import type { Version } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'
import type { Users } from '../users/users.ts'
import type { ResumablePage, ResumableUpload, ResumableLedger } from './resumable-ledger.ts'
import type { ResumableUploads } from './resumable-uploads.ts'

export interface UploadAdministrationOptions {
  readonly ledger: UploadLedger & ResumableLedger
  readonly objects: Pick<ObjectStore, 'head'>
  readonly users: Pick<Users, 'find'>
  readonly uploads: Pick<ResumableUploads, 'cancel'>
}

export interface ReleaseRequest {
  /** Called with each released upload, which is then forgotten. */
  readonly onReleased: (upload: ReleasedUpload) => void
  readonly signal: AbortSignal
}

export interface ReleasedUpload extends PendingUpload {
  /** Bytes of its object. */
  readonly size: number
}

export interface Release {
  released: number
  /** Left alone, because a request was working on them within the last minute. */
  running: number
}

/** What operators can do with users' uploads (docs/administration.md). */
export type UploadAdministration = ReturnType<typeof createUploadAdministration>

export function createUploadAdministration({
  ledger,
  objects,
  users,
  uploads,
}: UploadAdministrationOptions) {
  async function release(
    upload: PendingUpload,
    { onReleased, signal }: ReleaseRequest,
  ): Promise<'released' | 'running' | undefined> {
    const { userId, version, objectKey: key, length } = upload
    const found = await objects.head({ key, signal })
    const isWhole = found !== undefined && (length === undefined || found.size === length)
    if (!isWhole) return undefined
    if (upload.isRunning) return 'running'
    const outcome = await ledger.abort({ userId, version, isUntouched: true })
    if (outcome === 'committed') return undefined
    onReleased({ ...upload, size: found.size })
    return 'released'
  }

  return {
    /** The unfinished uploads of a user of any status, oldest first. Rejects with `not_found` for an unknown user. */
    async list(page: ResumablePage): Promise<readonly ResumableUpload[]> {
      await users.find(page.userId)
      return await ledger.listResumables(page)
    },

    /**
     * Guarantees that the upload accepts no more bytes, becomes no file, and has released its reservation. Can be
     * repeated. Rejects with `not_found`, also once its row is deleted, and with `upload_gone` if it is finished.
     */
    async cancel(upload: { readonly userId: UserId; readonly version: Version }): Promise<void> {
      try {
        await uploads.cancel(upload)
      } catch (error) {
        const isOver = isAppError(error, 'upload_gone') && error.facts['outcome'] !== 'finished'
        if (!isOver) throw error
      }
    },

    /**
     * For a restored database, before a service starts on it. Forgets the pending uploads whose object is complete:
     * they were finished after the copy was made, and their expiry would remove the objects. `verify` then reports
     * these as orphans. Rejects with `unavailable` if the database or the object store fails; a further call continues.
     */
    async releaseFinished(request: ReleaseRequest): Promise<Release> {
      const done: Release = { released: 0, running: 0 }
      let after: Version | undefined
      do {
        request.signal.throwIfAborted()
        const page = await ledger.listPendingUploads({ after, limit: UPLOADS_PER_PAGE })
        await forEachConcurrent(page, PARALLEL_HEADS, async (upload) => {
          const end = await release(upload, request)
          if (end !== undefined) done[end] += 1
        })
        after = page.at(-1)?.version
      } while (after !== undefined)
      return done
    },
  }
}

const UPLOADS_PER_PAGE = 500
const PARALLEL_HEADS = 8
