import { type RawBuilder, sql } from 'kysely'

interface PrefixRange {
  readonly prefix: string
  /** Empty to start at the first name. */
  readonly after: string
}

/** For a bytewise `column`. One bound per side: of two, SQLite might enter the index at the farther one. */
export function isInRange(
  column: RawBuilder<unknown>,
  { prefix, after }: PrefixRange,
): RawBuilder<unknown> {
  const end = successorOf(prefix)
  const from = isBelow(after, prefix) ? sql`${column} >= ${prefix}` : sql`${column} > ${after}`
  return end === undefined ? from : sql`${from} AND ${column} < ${end}`
}

/** Compares UTF-8 bytes; JavaScript's `<` compares UTF-16. */
export function isBelow(text: string, other: string): boolean {
  return Buffer.compare(Buffer.from(text), Buffer.from(other)) < 0
}

/** The first text, bytewise in UTF-8, after all that begin with `prefix`; `undefined` if there is none. */
export function successorOf(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1
  return String.fromCodePoint(...points, next)
}

// UTF-8 cannot encode surrogates.
const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff
const LAST_CODE_POINT = 0x10ffff
