import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { cutPage, DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../../core/pagination.ts'
import { Type } from '../openapi/type.ts'

/** The query of a call that answers a list. Its route reads numbers with `readLimit`. */
export const PAGE_QUERY = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE_LIMIT,
        default: DEFAULT_PAGE_LIMIT,
        description: 'How many entries a page has at most.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        description: 'The `next_cursor` of the page before; the first page without.',
      }),
    ),
  },
  { additionalProperties: false },
)

/**
 * A `preValidation` hook: makes a `limit` in decimal digits the number that its schema judges. Whatever else it is stays
 * text, which the schema refuses.
 */
export function readLimit({ query }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { limit } = query as { limit?: unknown }
  if (typeof limit === 'string' && /^[1-9]\d{0,8}$/.test(limit)) {
    Object.assign(query as object, { limit: Number(limit) })
  }
  done()
}

/** The place of an entry in the order of its list. */
export type Key = readonly (string | number)[]

export interface PagedList<Entry, Place> {
  /** The place that a key is, or `undefined` for one that is none. */
  readonly read: (key: Key) => Place | undefined
  /** Up to `limit` entries that come after that place. */
  readonly list: (page: {
    readonly after: Place | undefined
    readonly limit: number
  }) => Promise<readonly Entry[]>
  readonly keyOf: (entry: Entry) => Key
}

/** The page that a query asks for, and the cursor of the next one, `null` at the end. Throws as `parseCursor` does. */
export async function readPage<Entry, Place>(
  query: { readonly limit?: number; readonly cursor?: string },
  { read, list, keyOf }: PagedList<Entry, Place>,
): Promise<{ readonly entries: readonly Entry[]; readonly next_cursor: string | null }> {
  const { limit = DEFAULT_PAGE_LIMIT, cursor } = query
  const after = cursor === undefined ? undefined : parseCursor(cursor, read)
  const { page, last } = cutPage(await list({ after, limit: limit + 1 }), limit)
  return { entries: page, next_cursor: last === undefined ? null : formatCursor(keyOf(last)) }
}

/** The parts of a key of that many ids, sources or references. */
export function textsOf(key: Key, parts: number): readonly string[] | undefined {
  const texts = key.filter((part) => typeof part === 'string' && /^[!-~]{1,128}$/.test(part))
  return key.length === parts && texts.length === parts ? (texts as string[]) : undefined
}

/** Writes the place after which a page begins as text that has no meaning for a client. */
export function formatCursor(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/**
 * Reads it back: what `read` makes of the key. Throws `invalid_parameter` for a cursor that no page has answered, of which
 * `read` makes nothing, or throws.
 */
export function parseCursor<T>(cursor: string, read: (key: Key) => T | undefined): T {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const place = isKey(key) && formatCursor(key) === cursor ? read(key) : undefined
    if (place !== undefined) return place
    throw new TypeError('not a place in this list')
  } catch (cause) {
    throw new AppError('invalid_parameter', 'The cursor is not one of this list.', {
      cause,
      facts: { parameter: 'cursor' },
    })
  }
}

function isKey(key: unknown): key is Key {
  return (
    Array.isArray(key) &&
    key.every((part) => typeof part === 'string' || Number.isSafeInteger(part))
  )
}
