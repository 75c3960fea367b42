import { AppError, isAppError } from '../errors.ts'
import type { ResumableState, ResumableUpload } from './resumable-ledger.ts'

/** The final states, as `outcome` of `upload_gone`. */
type FinalState = Exclude<ResumableState, 'open' | 'sealed'>

const GONE: Readonly<Record<FinalState, string>> = {
  finished: 'This upload is finished. Use the path of its file.',
  cancelled: 'This upload was cancelled, or its content was refused. Create a new upload.',
  expired: 'This upload has expired. Create a new upload.',
  lost: 'The object store no longer has the bytes of this upload. Create a new upload.',
}

export function uploadNotFound(): AppError {
  return new AppError('not_found', 'There is no upload with this id.')
}

export function uploadGone(outcome: FinalState): AppError {
  return new AppError('upload_gone', GONE[outcome], { facts: { outcome } })
}

/** Clients take an offset equal to the length for a stored file, and would not send it again. */
export function uploadSuperseded(): AppError {
  const detail =
    'This upload is finished, but its file has been replaced, renamed or deleted since. Create a new upload.'
  return new AppError('upload_gone', detail, { facts: { outcome: 'finished' } })
}

/** Whether clients may be told the offset: equal to the length, it would say that the file is stored (I12). */
export function mayTellOffset({ state, offset, length }: UploadProgress): boolean {
  return state === 'finished' || offset !== length
}

type UploadProgress = Pick<ResumableUpload, 'state' | 'offset' | 'length'>

/** `upload_busy` if clients may not be told the offset. */
export function offsetMismatch(upload: UploadProgress, provided: number): AppError {
  if (!mayTellOffset(upload)) return uploadBusy()
  const { offset } = upload
  return new AppError('offset_mismatch', `The offset of the upload is ${offset}.`, {
    facts: { offset, provided_offset: provided },
  })
}

export function lengthExceeded(length: number): AppError {
  return new AppError('upload_length_exceeded', 'The body exceeds the length of the upload.', {
    facts: { length },
  })
}

const RETRY_AFTER_SECONDS = 5

export function uploadBusy(): AppError {
  return new AppError('upload_busy', 'Another request is working on this upload.', {
    facts: { retry_after: RETRY_AFTER_SECONDS },
  })
}

export function checksumMismatch(): AppError {
  return new AppError('checksum_mismatch', 'The body does not match the Upload-Checksum header.')
}

/** `upload_gone` if the upload has ended without a file. */
export function endedAlready({ state }: Pick<ResumableUpload, 'state'>): AppError | undefined {
  const isEnded = state !== 'open' && state !== 'sealed' && state !== 'finished'
  return isEnded ? uploadGone(state) : undefined
}

/** Throws `upload_gone` for an upload that has ended. */
export function assertUnfinished(
  upload: ResumableUpload,
): asserts upload is ResumableUpload & { readonly state: 'open' | 'sealed' } {
  if (upload.state !== 'open' && upload.state !== 'sealed') throw uploadGone(upload.state)
}

/** Clients give up an upload after 400 and 408, so a broken connection is reported as a temporary failure. */
export function storedNothing(failure: unknown): unknown {
  if (!isBrokenOff(failure)) return failure
  return new AppError('unavailable', 'The body ended early, and none of its bytes were stored.', {
    cause: failure,
  })
}

export function isBrokenOff(failure: unknown): boolean {
  return isAppError(failure, 'truncated_body') || isAppError(failure, 'request_timeout')
}

/**
 * The first bytes of the body may reach the length of the upload, but they are not the file. A folder's marker has the
 * length 0, whatever the upload declares.
 */
export function isTooLong(failure: unknown): boolean {
  return isAppError(failure, 'upload_length_exceeded') || isAppError(failure, 'invalid_file_name')
}
