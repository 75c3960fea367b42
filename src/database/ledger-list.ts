import { type RawBuilder, sql } from 'kysely'
import type { File } from '../core/file.ts'
import type { Audience, FileOrder } from '../core/file-page.ts'
import type { ListFiles } from '../core/ledger.ts'
import type { Books } from './books.ts'
import { toFile } from './ledger-reads.ts'
import type { FileRow } from './schema.ts'

/**
 * A page by keyset: the index of its order (or, for others than the owner, of what others may see) is entered at the
 * position and read until the page is full.
 */
export async function listFiles({ db }: Books, page: ListFiles): Promise<readonly File[]> {
  const { userId } = page
  const { rows } = await sql<FileRow>`
    SELECT * FROM files
    WHERE user_id = ${userId}
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND status = 'active')
      ${VISIBLE_TO[page.audience]} ${within(page)} ${after(page)}
    ORDER BY ${ORDER[page.order]} LIMIT ${page.limit}
  `.execute(db)
  return rows.map(toFile)
}

/** `<> 'private'` is what the partial indexes are for. */
const VISIBLE_TO = {
  owner: sql``,
  users: sql`AND visibility <> 'private'`,
  anyone: sql`AND visibility <> 'private' AND visibility = 'public'`,
} as const satisfies Record<Audience, RawBuilder<unknown>>

const ORDER = {
  name: sql`name`,
  '-name': sql`name DESC`,
  updated_at: sql`updated_at, name`,
  '-updated_at': sql`updated_at DESC, name DESC`,
  size: sql`size, name`,
  '-size': sql`size DESC, name DESC`,
} as const satisfies Record<FileOrder, RawBuilder<unknown>>

function after({ after, order }: ListFiles): RawBuilder<unknown> {
  if (after === undefined) return sql``
  const { name, value } = after
  switch (order) {
    case 'name':
      return sql`AND name > ${name}`
    case '-name':
      return sql`AND name < ${name}`
    case 'updated_at':
      return sql`AND (updated_at, name) > (${value}, ${name})`
    case '-updated_at':
      return sql`AND (updated_at, name) < (${value}, ${name})`
    case 'size':
      return sql`AND (size, name) > (${value}, ${name})`
    case '-size':
      return sql`AND (size, name) < (${value}, ${name})`
  }
}

function within({ prefix }: ListFiles): RawBuilder<unknown> {
  if (prefix === '') return sql``
  const end = successorOf(prefix)
  return end === undefined
    ? sql`AND name >= ${prefix}`
    : sql`AND name >= ${prefix} AND name < ${end}`
}

/** The first text, bytewise in UTF-8, after all that begin with `prefix`; `undefined` when there is none. */
function successorOf(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1
  return String.fromCodePoint(...points, next)
}

// Halves of surrogate pairs are no characters, and no UTF-8.
const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff
const LAST_CODE_POINT = 0x10ffff
