import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import type { PendingUpload, UploadLedger } from '../uploads/upload-ledger.ts'
import type { Version } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'

export interface ReleasedFrom {
  readonly ledger: Pick<UploadLedger, 'abort' | 'listPendingUploads'>
  readonly objects: Pick<ObjectStore, 'head'>
}

interface ReleaseRequest extends ReleasedFrom {
  /** Called with each released upload, which is then forgotten. */
  readonly onReleased: (upload: ReleasedUpload) => void
  readonly signal: AbortSignal
}

interface ReleasedUpload extends PendingUpload {
  /** Bytes of its object. */
  readonly size: number
}

export interface Release {
  released: number
  /** Left alone, because a request was working on them within the last minute. */
  running: number
}

/**
 * For a restored database, before a service starts on it. Forgets the pending uploads whose object is complete: they were
 * finished after the copy was made, and their expiry would remove the objects. `verify` then reports these as orphans.
 * Rejects with `unavailable` if the database or the object store fails; a further call continues.
 */
export async function releaseFinished(request: ReleaseRequest): Promise<Release> {
  const { ledger, signal } = request
  const done: Release = { released: 0, running: 0 }
  let after: Version | undefined
  do {
    signal.throwIfAborted()
    const page = await ledger.listPendingUploads({ after, limit: UPLOADS_PER_PAGE })
    await forEachConcurrent(page, PARALLEL_HEADS, async (upload) => {
      const end = await release(upload, request)
      if (end !== undefined) done[end] += 1
    })
    after = page.at(-1)?.version
  } while (after !== undefined)
  return done
}

async function release(
  upload: PendingUpload,
  { ledger, objects, onReleased, signal }: ReleaseRequest,
): Promise<keyof Release | undefined> {
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

const UPLOADS_PER_PAGE = 500
const PARALLEL_HEADS = 8
