import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { cutPage, DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../../core/pagination.ts'
import { Query } from '../openapi/parameters.ts'
import { Type } from '../openapi/type.ts'

export const PAGE_QUERY = Query({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_LIMIT,
      default: DEFAULT_PAGE_LIMIT,
      description: 'The maximum number of entries per page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'The `next_cursor` of the previous page. Omit it for the first page.',
    }),
  ),
})

export type PageQuery = Static<typeof PAGE_QUERY>

/** Runs the read of a list, at once or in turn. */
export type ReadList = <T>(reply: FastifyReply, read: () => Promise<T>) => Promise<T>

export const readAtOnce: ReadList = (_reply, read) => read()

export type Key = readonly (string | number)[]

export interface PagedList<Entry, Place> {
  /** `undefined` for a key that is not a position in this list. */
  readonly read: (key: Key) => Place | undefined
  readonly list: (page: {
    readonly after: Place | undefined
    readonly limit: number
  }) => Promise<readonly Entry[]>
  readonly keyOf: (entry: Entry) => Key
}

/** `next_cursor` is `null` on the last page. Throws as `parseCursor` does. */
export async function readPage<Entry, Place>(
  query: PageQuery,
  { read, list, keyOf }: PagedList<Entry, Place>,
): Promise<{ readonly entries: readonly Entry[]; readonly next_cursor: string | null }> {
  const { limit = DEFAULT_PAGE_LIMIT, cursor } = query
  const after = cursor === undefined ? undefined : parseCursor(cursor, read)
  const { page, last } = cutPage(await list({ after, limit: limit + 1 }), limit)
  return { entries: page, next_cursor: last === undefined ? null : formatCursor(keyOf(last)) }
}

/** `undefined` unless the key is that many ids, sources or references. */
export function textsOf(key: Key, parts: number): readonly string[] | undefined {
  const texts = key.filter((part) => typeof part === 'string' && /^[!-~]{1,128}$/.test(part))
  return key.length === parts && texts.length === parts ? (texts as string[]) : undefined
}

export function formatCursor(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** Throws `invalid_parameter` for a cursor that no page has returned or `read` rejects. */
export function parseCursor<T>(cursor: string, read: (key: Key) => T | undefined): T {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const place = isKey(key) && formatCursor(key) === cursor ? read(key) : undefined
    if (place !== undefined) return place
    throw new TypeError('not a position in this list')
  } catch (cause) {
    throw invalidParameter('cursor', 'The cursor is not valid for this list.', cause)
  }
}

function isKey(key: unknown): key is Key {
  return (
    Array.isArray(key) &&
    key.every((part) => typeof part === 'string' || Number.isSafeInteger(part))
  )
}
