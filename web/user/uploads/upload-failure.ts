import { ConnectionError, isPassing, isTokenCode, ProblemError } from '../../shared/api.ts'
import { messageOf } from '../../shared/error-message.ts'
import { messages } from '../../messages.ts'
import type { UploadItem, UploadState } from './upload-item.ts'

/** The state of a failed upload. `lost` and `paused` are retried. */
export async function stateAfter(error: unknown, item: UploadItem): Promise<UploadState> {
  const { refusals } = messages.uploads
  if (!(error instanceof ProblemError)) {
    const isLost = error instanceof ConnectionError && (await isReadable(item.content))
    return isLost ? { kind: 'lost' } : { kind: 'refused', text: refusals.unreadable }
  }
  if (isTokenCode(error.code)) return { kind: 'signed_out' }
  if (isPassing(error) || hasChanged(error)) return { kind: 'paused' }
  return { kind: 'refused', text: refusalText(error) }
}

/** Whether file or capacity have changed since the check, so that a retry must check again. */
export function hasChanged(error: unknown): boolean {
  return error instanceof ProblemError && CHANGED.has(error.code)
}

const CHANGED = new Set(['precondition_failed', 'capacity_exceeded'])

function refusalText(error: ProblemError): string {
  const { refusals } = messages.uploads
  switch (error.code) {
    case 'file_count_exceeded':
    case 'invalid_file_name':
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
