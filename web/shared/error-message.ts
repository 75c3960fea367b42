import { isProblem } from '../../client/src/errors.ts'
import { messages } from '../messages.ts'

/** What went wrong, for people: by the code of a refusal, else as the error itself says it. */
export function messageOf(error: unknown): string {
  if (isProblem(error)) return messages.problems[error.code] ?? error.message
  return error instanceof Error ? error.message : String(error)
}
