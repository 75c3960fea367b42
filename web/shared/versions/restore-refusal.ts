import { isProblem } from '../../../packages/js/src/errors.ts'
import { failureOf } from '../error-message.ts'
import { messages } from '../../messages.ts'
import { words as versionWords } from './words.ts'

const words = versionWords.refusals

/** Why the service did not restore a version that had this name. */
export function restoreRefusal(error: unknown, name: string): string {
  // The condition is that of a token that may only create.
  if (isProblem(error, 'file_exists', 'precondition_failed')) return words.exists(name)
  if (isProblem(error, 'capacity_exceeded')) {
    const { available } = error.problem
    return available === undefined ? messages.selection.whys.full : words.full(name, available)
  }
  if (isProblem(error, 'file_count_exceeded')) return messages.uploads.refusals.file_count_exceeded
  if (isProblem(error, 'scope_insufficient')) return words.shared(name)
  if (isProblem(error, 'not_found', 'version_gone')) return words.gone(name)
  return failureOf(error)
}
