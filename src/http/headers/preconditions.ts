import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import {
  type EntityTags,
  includesEntityTag,
  isModifiedSince,
  type Precondition,
} from '../../core/files/precondition.ts'
import { parseHttpDate } from './http-date.ts'

/** All that the headers of a request can demand. A write knows but the `Precondition` in it. */
export interface Preconditions extends Precondition {
  /** Milliseconds since 1970. */
  readonly ifModifiedSince?: number | undefined
}

/**
 * What the headers of a write demand, or `undefined` for nothing. Throws `invalid_parameter` for malformed entity-tags. A
 * date that is none is no condition, as the RFC has it.
 */
export function parseWritePrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  const { 'if-match': match, 'if-none-match': none, 'if-unmodified-since': date } = headers
  if ((match ?? none ?? date) === undefined) return undefined
  const ifUnmodifiedSince = date === undefined ? undefined : parseHttpDate(date)
  return { ifMatch: parseIfMatch(match), ifNoneMatch: parseIfNoneMatch(none), ifUnmodifiedSince }
}

/** As `parseWritePrecondition`, for a read. */
export function parsePreconditions(headers: IncomingHttpHeaders): Preconditions {
  const date = headers['if-modified-since']
  const ifModifiedSince = date === undefined ? undefined : parseHttpDate(date)
  return { ...parseWritePrecondition(headers), ifModifiedSince }
}

/**
 * Decides on a GET or HEAD of what is there, in the order of RFC 9110 section 13.2.2: an entity-tag outranks the
 * date of its kind, and what would fail is told before what has not changed. The file has the strong `etag`, without
 * quotes, and was `lastModified` so many milliseconds after the beginning of 1970.
 */
export function evaluatePreconditions(
  conditions: Preconditions,
  { etag, lastModified }: { readonly etag: string; readonly lastModified: number },
): 'met' | 'not_modified' | 'failed' {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions
  if (ifMatch !== undefined) {
    if (!includesEntityTag(ifMatch, etag)) return 'failed'
  } else if (ifUnmodifiedSince !== undefined) {
    if (isModifiedSince(lastModified, ifUnmodifiedSince)) return 'failed'
  }
  if (ifNoneMatch !== undefined) {
    if (includesEntityTag(ifNoneMatch, etag)) return 'not_modified'
  } else if (ifModifiedSince !== undefined) {
    if (!isModifiedSince(lastModified, ifModifiedSince)) return 'not_modified'
  }
  return 'met'
}

/**
 * Returns the entity-tags of an `If-Match` that can match at all, or `undefined` without the header. The comparison
 * is strong (RFC 9110 section 13.1.1), so weak ones are left out: a list of nothing else matches nothing.
 * Throws `invalid_parameter` for a malformed one, as `parseIfNoneMatch` does.
 */
export function parseIfMatch(header: string | undefined): EntityTags | undefined {
  if (header === undefined || header === '*') return header
  return entityTagsOf('If-Match', header).flatMap(({ weak, value }) => (weak ? [] : [value]))
}

/**
 * Returns the entity-tags of an `If-None-Match`, compared weakly (RFC 9110 section 13.1.2), or `undefined` without
 * the header. One that is malformed or names no tag throws `invalid_parameter`, on reads as on writes: to ignore it
 * would turn a write with a mistyped condition into one without, and lose the update that it was to protect.
 */
export function parseIfNoneMatch(header: string | undefined): EntityTags | undefined {
  if (header === undefined || header === '*') return header
  return entityTagsOf('If-None-Match', header).map(({ value }) => value)
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

function entityTagsOf(name: string, header: string): EntityTag[] {
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
