import { ConnectionError, isPassing, isTokenCode, ProblemError } from '../../shared/api.ts'
import { messageOf } from '../../shared/error-message.ts'
import { texts } from '../../messages.ts'
import type { UploadItem, UploadState } from './upload-item.ts'

/** What becomes of an upload that failed. `lost` and `paused` are tried again. */
export async function stateAfter(error: unknown, item: UploadItem): Promise<UploadState> {
  const { refusals } = texts.uploads
  if (!(error instanceof ProblemError)) {
    const isLost = error instanceof ConnectionError && (await isReadable(item.content))
    return isLost ? { kind: 'lost' } : { kind: 'refused', text: refusals.unreadable }
  }
  if (isTokenCode(error.code)) return { kind: 'signed_out' }
  if (isPassing(error) || hasChanged(error)) return { kind: 'paused' }
  return { kind: 'refused', text: refusalText(error) }
}

/** Whether the service has found something else than was found before: what it is, is found out as before. */
export function hasChanged(error: unknown): boolean {
  return error instanceof ProblemError && CHANGED.has(error.code)
}

const CHANGED = new Set(['precondition_failed', 'capacity_exceeded'])

function refusalText(error: ProblemError): string {
  const { refusals } = texts.uploads
  switch (error.code) {
    case 'file_count_exceeded':
    case 'invalid_file_name':
      return refusals[error.code]
    case 'file_too_large':
      return refusals.file_too_large(error.fact('max_file_size'))
    default:
      return texts.failed(messageOf(error))
  }
}

/** A browser says of a file that it can't read no more than of a connection that it lost. */
async function isReadable(content: Blob): Promise<boolean> {
  try {
    await content.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}
