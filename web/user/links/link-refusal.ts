import { isProblem } from '../../../packages/js/src/errors.ts'
import { words } from './words.ts'

/** Of a limit above what the service lets a link take: which one; `undefined` for any other error. */
export function refusedLimit(error: unknown): string | undefined {
  if (!isProblem(error, 'invalid_parameter')) return undefined
  const field = FIELDS[error.problem.parameter]
  return field === undefined ? undefined : words.aboveUsual(field)
}

const FIELDS: Readonly<Partial<Record<string, string>>> = {
  max_files: words.maxFiles,
  max_bytes: words.maxBytes,
}
