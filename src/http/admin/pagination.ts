import { cutPage, parsePageLimit } from '../../core/pagination.ts'
import { AppError } from '../../core/errors.ts'
import { Type } from '../openapi/type.ts'

/** The query of a call that answers a list. Numbers in a query are text, so `limit` is read by hand. */
export const PageQuery = Type.Object(
  { limit: Type.Optional(Type.String()), cursor: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

/** The query of every other call. */
export const NoQuery = Type.Object({}, { additionalProperties: false })

export interface PageRequest {
  readonly limit: number
  /** The key of the last entry of the page before, of as many parts as asked for; `undefined` for the first page. */
  readonly after: readonly string[] | undefined
}

/** Reads which page is wanted of a list whose entries have keys of `parts` parts. Throws `invalid_parameter`. */
export function parsePage(
  { limit, cursor }: { readonly limit?: string; readonly cursor?: string },
  parts: number,
): PageRequest {
  const after = cursor === undefined ? undefined : parseCursor(cursor, parts)
  return { limit: parsePageLimit(limit), after }
}

/**
 * The page that `found` makes, and the cursor of the next one, `null` at the end. `found` has up to `limit` entries and
 * one more when there are more.
 */
export function pageOf<T>(
  found: readonly T[],
  { limit, keyOf }: { readonly limit: number; readonly keyOf: (entry: T) => readonly string[] },
): { readonly page: readonly T[]; readonly next_cursor: string | null } {
  const { page, last } = cutPage(found, limit)
  return { page, next_cursor: last === undefined ? null : cursorOf(keyOf(last)) }
}

function cursorOf(key: readonly string[]): string {
  return Buffer.from(key.join(SEPARATOR)).toString('base64url')
}

// Of no key: ids, sources and references have none.
const SEPARATOR = ' '

function parseCursor(cursor: string, parts: number): readonly string[] {
  const key = Buffer.from(cursor, 'base64url').toString().split(SEPARATOR)
  if (key.length === parts && key.every(isPart) && cursorOf(key) === cursor) return key
  throw cursorFault()
}

function isPart(text: string): boolean {
  return /^[!-~]{1,128}$/.test(text)
}

/** For a cursor that no page has answered. */
export function cursorFault(): AppError {
  return new AppError('invalid_parameter', 'cursor is one that the page before has answered.', {
    facts: { parameter: 'cursor' },
  })
}
