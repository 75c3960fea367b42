import { ProblemError } from './api.ts'
import { messageOf } from './error-message.ts'
import { messages } from '../messages.ts'

const words = messages.history.refusals

/** Why the service did not restore a version that had this name. */
export function restoreRefusal(error: unknown, name: string): string {
  if (!(error instanceof ProblemError)) return messages.failed(messageOf(error))
  switch (error.code) {
    case 'file_exists':
    // For a token that may only create.
    case 'precondition_failed':
      return words.exists(name)
    case 'capacity_exceeded':
      return words.full(name, error.fact('available'))
    case 'file_count_exceeded':
      return messages.uploads.refusals.file_count_exceeded
    case 'scope_insufficient':
      return words.shared(name)
    case 'not_found':
    case 'version_gone':
      return words.gone(name)
    default:
      return messages.failed(messageOf(error))
  }
}
