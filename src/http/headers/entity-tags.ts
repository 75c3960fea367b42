import { AppError } from '../../core/errors.ts'
import type { EntityTags } from '../../core/files/precondition.ts'

/**
 * Returns the entity-tags of an `If-Match` that can match at all, or `undefined` without the header. The comparison
 * is strong (RFC 9110 section 13.1.1), so weak ones are left out: a list of nothing else matches nothing.
 * Throws `invalid_parameter` for a malformed one, as `parseIfNoneMatch` does.
 */
export function parseIfMatch(header: string | undefined): EntityTags | undefined {
  const list = parse('If-Match', header)
  return typeof list === 'object'
    ? list.filter(({ weak }) => !weak).map(({ value }) => value)
    : list
}

/**
 * Returns the entity-tags of an `If-None-Match`, compared weakly (RFC 9110 section 13.1.2), or `undefined` without
 * the header. One that is malformed or names no tag throws `invalid_parameter`, on reads as on writes: to ignore it
 * would turn a write with a mistyped condition into one without, and lose the update that it was to protect.
 */
export function parseIfNoneMatch(header: string | undefined): EntityTags | undefined {
  const list = parse('If-None-Match', header)
  return typeof list === 'object' ? list.map(({ value }) => value) : list
}

/** Returns the value of an entity-tag that is strong and stands alone, or `undefined`. */
export function parseStrongEntityTag(text: string): string | undefined {
  const [tag, ...more] = listOf(text) ?? []
  return tag === undefined || tag.weak || more.length > 0 ? undefined : tag.value
}

interface EntityTag {
  readonly value: string
  readonly weak: boolean
}

function parse(name: string, header: string | undefined): '*' | EntityTag[] | undefined {
  if (header === undefined || header === '*') return header
  const list = listOf(header)
  if (list !== undefined && list.length > 0) return list
  throw new AppError(
    'invalid_parameter',
    `The header ${name} is either * or a list of entity-tags, each in double quotes.`,
    { facts: { parameter: name } },
  )
}

function listOf(text: string): EntityTag[] | undefined {
  const tags: EntityTag[] = []
  let at = 0
  while (at < text.length) {
    ELEMENT.lastIndex = at
    const [whole, weak, value] = ELEMENT.exec(text) ?? []
    if (whole === undefined) return undefined
    if (value !== undefined) tags.push({ value, weak: weak !== undefined })
    at += whole.length
  }
  return tags
}

/** One element of the list, which may be empty, with the comma after it (RFC 9110 sections 5.6.1 and 8.8.3). */
const ELEMENT = /[ \t]*(?:(W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"[ \t]*)?(?:,|$)/y
