import type { Files } from '../../../packages/js/src/client.ts'
import { connectionLost, isProblem } from '../../../packages/js/src/errors.ts'
import type { FileEntry } from '../../shared/model.ts'
import type { Permissions } from '../permissions.ts'
import { RESUMABLE_BYTES, type UploadItem } from './upload-item.ts'

export interface TransferOptions {
  /** Sends each request once: `queue.ts` decides what to repeat and when. */
  readonly files: Pick<Files, 'upload'>
  readonly permissions: Permissions
}

export interface TransferTerms {
  readonly onProgress: (sent: number) => void
  readonly signal: AbortSignal
  /** Throws if nothing more may be sent for this user: another tab is signing somebody else in. */
  readonly assertNotHeld: () => void
}

/**
 * Sends a file, or the rest of it. Resolves to the stored file, or to `undefined` if it has been replaced or deleted
 * since. Rejects with a `CloudRepositoryError`, with the reason of the signal, or as `assertNotHeld` throws. Rejects only
 * once it is known whether a resumable upload was created, and leaves that as it is.
 */
export type Transfer = (item: UploadItem, terms: TransferTerms) => Promise<FileEntry | undefined>

/** Sends large files, and uploads that are continued, with tus. A small file takes a single request, which is cheaper. */
export function createTransfer({ files, permissions }: TransferOptions): Transfer {
  return async (item, { onProgress, signal, assertNotHeld }) => {
    const { name, content, uploadId } = item
    const isLarge = item.size >= RESUMABLE_BYTES || uploadId !== undefined
    const resume = isLarge && (await canResume())
    if (!resume && uploadId !== undefined)
      throw connectionLost(new Error('Nothing can continue it.'))
    signal.throwIfAborted()
    assertNotHeld()
    const stop = new AbortController()
    const onAbort = (): void => {
      if (!resume || item.uploadId !== undefined) stop.abort(signal.reason)
    }
    signal.addEventListener('abort', onAbort)
    try {
      return await files.upload(name, content, {
        ...conditionsOf(item, permissions),
        resume,
        uploadId: uploadId ?? null,
        onProgress: ({ sent }) => onProgress(sent),
        onUploadId(id) {
          item.uploadId = id
          if (signal.aborted) onAbort()
        },
        signal: stop.signal,
      })
    } catch (error) {
      if (isProblem(error, 'upload_superseded')) return undefined
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** `false` if the code for it cannot be loaded: after an update of the service, its file has another name. */
async function canResume(): Promise<boolean> {
  try {
    await import('../../../packages/js/src/files/resumable/resumable.ts')
    return true
  } catch {
    return false
  }
}

/**
 * Never overwrites a version that another client has written meanwhile, unless the token may not read: then the user has
 * agreed to replace whatever file has the name.
 */
function conditionsOf({ replaced, mayReplace }: UploadItem, { may }: Permissions) {
  if (replaced !== undefined) return { ifMatch: replaced.etag }
  return mayReplace && !may('read') ? { ifMatch: '*' } : { ifNoneMatch: '*' }
}
