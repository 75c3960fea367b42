import { type CloudRepositoryError, isProblem } from '../../../packages/js/src/errors.ts'
import { isTemporary } from '../../../packages/js/src/http/retry.ts'
import { isTokenCode } from '../../shared/connection.ts'
import { failureOf } from '../../shared/error-message.ts'
import { messages } from '../../messages.ts'
import { isMarker } from '../../shared/folder.ts'
import type { Permissions } from '../permissions.ts'
import { fullState } from './upload-check.ts'
import { nextName, type UploadItem, type UploadState } from './upload-item.ts'

/** The state of a failed upload. `lost` and `paused` are retried. */
export function stateAfter(error: unknown): UploadState {
  const { refusals } = messages.uploads
  if (!isProblem(error)) return { kind: 'refused', text: refusals.unreadable }
  if (error.code === 'connection_lost') return { kind: 'lost' }
  if (isTokenCode(error.code)) return { kind: 'signed_out' }
  if (isCancelled(error)) return { kind: 'refused', text: refusals.cancelled }
  if (isTemporary(error) || hasChanged(error) || isBehind(error)) return { kind: 'paused' }
  return { kind: 'refused', text: refusalText(error) }
}

/**
 * The state that only the refusal of a narrow token shows: the check could not ask for the file, or did not ask for the
 * space because the service makes room. `undefined` if a retry finds the state.
 */
export function unforeseen(
  error: unknown,
  item: UploadItem,
  { may, token, within }: Permissions,
): UploadState | undefined {
  if ((token.value?.scope ?? null) === null) return undefined
  if (isProblem(error, 'capacity_exceeded')) {
    const { capacity, used, available } = error.problem
    const isTold = capacity !== undefined && used !== undefined && available !== undefined
    if (isTold) return fullState(item, { capacity, used, available })
    return { kind: 'refused', text: messages.selection.whys.full }
  }
  if (may('read') || !isPreconditionFailed(error)) return undefined
  if (isMarker(item.name)) return { kind: 'done' }
  if (item.mayReplace) {
    return may('create') ? undefined : { kind: 'refused', text: messages.uploads.refusals.absent }
  }
  if (!item.findsName) return { kind: 'exists' }
  item.name = within(nextName(item.name))
  return { kind: 'waiting' }
}

/** Whether file or capacity have changed since the check, so that a retry must check again. */
export function hasChanged(error: unknown): boolean {
  return isProblem(error, 'precondition_failed', 'capacity_exceeded')
}

export function isPreconditionFailed(error: unknown): boolean {
  return isProblem(error, 'precondition_failed')
}

/** Whether the resumable upload can no longer be continued. */
export function isGone(error: unknown): boolean {
  return isProblem(error, 'not_found', 'upload_gone')
}

/** By the user, in another tab or on another device, or by an operator. */
function isCancelled(error: unknown): boolean {
  return isProblem(error, 'upload_gone') && error.problem.outcome === 'cancelled'
}

/** Whether the service has a newer state of the upload than this page, or another client sends it. */
function isBehind(error: CloudRepositoryError): boolean {
  return isProblem(error, 'offset_mismatch') || error.status === 423 || isGone(error)
}

/** Why the service did not store the file of a complete upload. */
export function refusalOf(error: unknown): string {
  const code = isProblem(error) ? error.code : ''
  return storingRefused(code) ?? failureOf(error)
}

/** `undefined` for a code without a text. */
export function storingRefused(code: string): string | undefined {
  const { notStored } = messages
  return Object.hasOwn(notStored, code) ? notStored[code as keyof typeof notStored] : undefined
}

function refusalText(error: CloudRepositoryError): string {
  const { refusals } = messages.uploads
  if (isProblem(error, 'file_too_large'))
    return refusals.file_too_large(error.problem.max_file_size)
  return isProblem(error, 'file_count_exceeded', 'invalid_file_name', 'unfinished_uploads_exceeded')
    ? refusals[error.code]
    : failureOf(error)
}
