import { timeoutSignal } from '../async/deadline.ts'
import type { AppError } from '../errors.ts'
import type { UploadOutcome } from '../uploads/upload-ledger.ts'
import { uploadBusy, uploadGone } from './refusals.ts'
import type { ResumableUpload } from './resumable-ledger.ts'
import type { ResumableOptions } from './resumable-options.ts'

/** Aborts an upload whose bytes the store no longer has. Returns the error for the client. */
export async function abortLost(
  options: ResumableOptions,
  upload: ResumableUpload,
): Promise<AppError> {
  if ((await discard(options, upload, 'lost')) === 'committed') return uploadBusy()
  options.onLost?.()
  return uploadGone('lost')
}

/**
 * Ends an upload, unless a commit came first, and removes its object if there can be one. The sweeper removes what this
 * call cannot.
 */
export async function discard(
  { ledger, objects }: ResumableOptions,
  { userId, version, objectKey: key }: ResumableUpload,
  endedAs: 'cancelled' | 'lost',
): Promise<UploadOutcome | undefined> {
  const outcome = await ledger.abort({ userId, version, endedAs })
  if (outcome !== 'aborted') return outcome
  await objects.remove({ key, signal: timeoutSignal(REMOVE_MS) }).catch(() => undefined)
  return outcome
}

const REMOVE_MS = 3_000
