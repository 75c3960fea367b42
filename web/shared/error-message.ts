import { type CloudRepositoryError, isProblem } from '../../packages/js/src/errors.ts'
import { messages } from '../messages.ts'
import { Refusal } from './refusal.ts'

/**
 * Why something failed, in the language of the page: by the code of a refusal, and as the page itself refuses it. Never
 * what the service, or the browser, says in its own words.
 */
export function failureOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (isProblem(error)) return wordsOf(error.problem) ?? messages.failed
  return error instanceof TypeError ? messages.notLoaded : messages.failed
}

/** `undefined` for a code of a newer service. */
function wordsOf(problem: CloudRepositoryError['problem']): string | undefined {
  const { code, parameter } = problem as { code: string; parameter?: string }
  if (code === 'invalid_parameter' && parameter) return messages.invalidValue(parameter)
  const known: Readonly<Partial<Record<string, string>>> = messages.problems
  return known[code]
}
