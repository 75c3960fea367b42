import { ConnectionError, isPassing, isTokenCode, ProblemError } from '../../shared/api.ts'
import { messageOf } from '../../shared/error-message.ts'
import { messages } from '../../messages.ts'
import type { Permissions } from '../permissions.ts'
import { fullState } from './upload-check.ts'
import { nextName, type UploadItem, type UploadState } from './upload-item.ts'

/** The state of a failed upload. `lost` and `paused` are retried. */
export async function stateAfter(error: unknown, item: UploadItem): Promise<UploadState> {
  const { refusals } = messages.uploads
  if (!(error instanceof ProblemError)) {
    const isLost = error instanceof ConnectionError && (await isReadable(item.content))
    return isLost ? { kind: 'lost' } : { kind: 'refused', text: refusals.unreadable }
  }
  if (isTokenCode(error.code)) return { kind: 'signed_out' }
  if (isCancelled(error)) return { kind: 'refused', text: refusals.cancelled }
  if (isPassing(error) || hasChanged(error) || isBehind(error)) return { kind: 'paused' }
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
  if (!(error instanceof ProblemError) || (token.value?.scope ?? null) === null) return undefined
  if (error.code === 'capacity_exceeded') {
    const [capacity, used, available] = [
      error.fact('capacity'),
      error.fact('used'),
      error.fact('available'),
    ]
    return fullState(item, { capacity, used, available })
  }
  if (may('read') || !isPreconditionFailed(error)) return undefined
  if (item.mayReplace) {
    return may('create') ? undefined : { kind: 'refused', text: messages.uploads.refusals.absent }
  }
  if (!item.findsName) return { kind: 'exists' }
  item.name = within(nextName(item.name))
  return { kind: 'waiting' }
}

/** Whether file or capacity have changed since the check, so that a retry must check again. */
export function hasChanged(error: unknown): boolean {
  return error instanceof ProblemError && CHANGED.has(error.code)
}

const CHANGED = new Set(['precondition_failed', 'capacity_exceeded'])

export function isPreconditionFailed(error: unknown): boolean {
  return error instanceof ProblemError && error.code === 'precondition_failed'
}

/** Whether the resumable upload can no longer be continued. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return false
  return error.code === 'not_found' || (error.code === 'upload_gone' && !isFinished(error))
}

/** By the user, in another tab or on another device, or by an operator. */
function isCancelled({ code, facts }: ProblemError): boolean {
  return code === 'upload_gone' && facts['outcome'] === 'cancelled'
}

function isFinished({ facts }: ProblemError): boolean {
  return facts['outcome'] === 'finished'
}

/** Whether the service has a newer state of the upload than this page. */
function isBehind(error: ProblemError): boolean {
  return error.code === 'offset_mismatch' || error.code === 'upload_gone' || isGone(error)
}

/** Why the service did not store the file of a complete upload. */
export function refusalOf(error: unknown): string {
  const code = error instanceof ProblemError ? error.code : ''
  return storingRefused(code) ?? messages.failed(messageOf(error))
}

/** `undefined` for a code without a text. */
export function storingRefused(code: string): string | undefined {
  const { refusals } = messages.unfinished
  return Object.hasOwn(refusals, code) ? refusals[code as keyof typeof refusals] : undefined
}

function refusalText(error: ProblemError): string {
  const { refusals } = messages.uploads
  switch (error.code) {
    case 'file_count_exceeded':
    case 'invalid_file_name':
    case 'unfinished_uploads_exceeded':
      return refusals[error.code]
    case 'file_too_large':
      return refusals.file_too_large(error.fact('max_file_size'))
    default:
      return messages.failed(messageOf(error))
  }
}

/** Browsers report an unreadable file and a lost connection as the same error. */
async function isReadable(content: Blob): Promise<boolean> {
  try {
    await content.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}
