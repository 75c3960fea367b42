import { type RawBuilder, sql } from 'kysely'

interface PrefixRange {
  readonly prefix: string
  /** Before all there is when empty. */
  readonly after: string
}

/**
 * The condition that a column, compared bytewise, begins with `prefix` and comes after `after`: one bound on each side,
 * since of two SQLite might enter the index at the farther one.
 */
export function isInRange(
  column: RawBuilder<unknown>,
  { prefix, after }: PrefixRange,
): RawBuilder<unknown> {
  const end = successorOf(prefix)
  const from = isBelow(after, prefix) ? sql`${column} >= ${prefix}` : sql`${column} > ${after}`
  return end === undefined ? from : sql`${from} AND ${column} < ${end}`
}

/** Bytewise in UTF-8, in which JavaScript does not compare. */
export function isBelow(text: string, other: string): boolean {
  return Buffer.compare(Buffer.from(text), Buffer.from(other)) < 0
}

/** The first text, bytewise in UTF-8, after all that begin with `prefix`; `undefined` when there is none. */
export function successorOf(prefix: string): string | undefined {
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
