import { isProblem } from '../../packages/js/src/errors.ts'
import { messages } from '../messages.ts'
import { Refusal } from './refusal.ts'

/** Says that something failed, and why. A refusal of the page says it itself. */
export function failureOf(error: unknown): string {
  return error instanceof Refusal ? error.message : messages.failed(reasonOf(error))
}

/** By the code of a refusal, else as the error itself says it. Browsers have no words for users when code is not loaded. */
function reasonOf(error: unknown): string {
  if (isProblem(error)) return messages.problems[error.code] ?? error.message
  if (error instanceof TypeError) return messages.notLoaded
  return error instanceof Error ? error.message : String(error)
}
