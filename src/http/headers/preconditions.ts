import {
  type EntityTags,
  includesEntityTag,
  isModifiedSince,
  type Precondition,
  preconditionFailed,
} from '../../core/files/precondition.ts'
import { lastModified } from '../../core/files/last-modified.ts'
import { parseHttpDate } from './http-date.ts'
import { MAX_PARSED_LENGTH } from './content-headers.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError, invalidParameter } from '../../core/errors.ts'
import type { FileVersion } from '../../core/files/file.ts'
import type { Extent } from '../../core/files/open-content.ts'
import type { ByteRange } from '../../core/objects/object-store.ts'

export interface Preconditions extends Precondition {
  /** Milliseconds since the epoch. */
  readonly ifModifiedSince?: number | undefined
}

/** Throws `invalid_parameter` for malformed entity-tags; ignores malformed dates (RFC 9110 section 13.1.4). */
export function parseWritePrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  const { 'if-match': match, 'if-none-match': none, 'if-unmodified-since': date } = headers
  if ((match ?? none ?? date) === undefined) return undefined
  const { ifModifiedSince: _, ...precondition } = parsePreconditions(headers)
  return precondition
}

/** Like `parseWritePrecondition`, for a read. */
export function parsePreconditions(headers: IncomingHttpHeaders): Preconditions {
  const { 'if-match': match, 'if-none-match': none } = headers
  const { 'if-modified-since': since, 'if-unmodified-since': until } = headers
  return {
    ifMatch: match === undefined ? undefined : parseIfMatch(match),
    ifNoneMatch: none === undefined ? undefined : parseIfNoneMatch(none),
    ifModifiedSince: since === undefined ? undefined : parseHttpDate(since),
    ifUnmodifiedSince: until === undefined ? undefined : parseHttpDate(until),
  }
}

/** In the order of RFC 9110 section 13.2.2. `etag` is strong and unquoted; dates are ms since the epoch. */
export function evaluatePreconditions(
  conditions: Preconditions,
  { etag, lastModified: modifiedAt }: { readonly etag: string; readonly lastModified: number },
): 'met' | 'not_modified' | 'failed' {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions
  if (ifMatch !== undefined) {
    if (!includesEntityTag(ifMatch, etag)) return 'failed'
  } else if (ifUnmodifiedSince !== undefined) {
    if (isModifiedSince(modifiedAt, ifUnmodifiedSince)) return 'failed'
  }
  if (ifNoneMatch !== undefined) {
    if (includesEntityTag(ifNoneMatch, etag)) return 'not_modified'
  } else if (ifModifiedSince !== undefined) {
    if (!isModifiedSince(modifiedAt, ifModifiedSince)) return 'not_modified'
  }
  return 'met'
}

/** Omits weak entity-tags, which never match (RFC 9110 section 13.1.1). Throws `invalid_parameter` if malformed. */
export function parseIfMatch(header: string | undefined): EntityTags | undefined {
  if (header === undefined || header === '*') return header
  return entityTagsOf('If-Match', header).flatMap(({ weak, value }) => (weak ? [] : [value]))
}

/**
 * Returns the tags for a weak comparison (RFC 9110 section 13.1.2). Throws `invalid_parameter` if malformed or empty:
 * ignoring it would make a conditional write unconditional and lose an update.
 */
export function parseIfNoneMatch(header: string | undefined): EntityTags | undefined {
  if (header === undefined || header === '*') return header
  return entityTagsOf('If-None-Match', header).map(({ value }) => value)
}

/** Returns the value of a single strong entity-tag, or `undefined`. */
export function parseStrongEntityTag(text: string): string | undefined {
  const [tag, another] = listOf(text) ?? []
  return tag === undefined || tag.weak || another !== undefined ? undefined : tag.value
}

interface EntityTag {
  readonly value: string
  readonly weak: boolean
}

function entityTagsOf(name: string, header: string): EntityTag[] {
  const list = listOf(header)
  if (list !== undefined && list.length > 0) return list
  throw invalidParameter(
    name,
    `The ${name} header must be * or a list of entity tags, each in double quotes.`,
  )
}

function listOf(text: string): EntityTag[] | undefined {
  if (text.length > MAX_PARSED_LENGTH) return undefined
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

/** One list element, possibly empty, with its comma (RFC 9110 sections 5.6.1 and 8.8.3). */
const ELEMENT = /[ \t]*(?:(W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"[ \t]*)?(?:,|$)/y

/** `nothing` is 304. Throws `precondition_failed`, `range_not_satisfiable` or `invalid_parameter`. */
export function selectRepresentation(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  file: FileVersion,
): 'nothing' | Extent {
  const { version: etag, size } = file
  const validators = { etag, lastModified: lastModified(file) }
  const conditions = parsePreconditions(headers)
  const outcome = evaluatePreconditions(conditions, validators)
  if (outcome === 'failed') throw preconditionFailed(conditions)
  if (outcome === 'not_modified') return 'nothing'
  const { range, 'if-range': ifRange } = headers
  if (method !== 'GET' || range === undefined) return 'whole'
  // A date never validates a range: two changes within a second share one (RFC 9110 sections 8.8.2.2 and 13.1.5).
  if (ifRange !== undefined && parseStrongEntityTag(String(ifRange)) !== etag) return 'whole'
  const selected = selectRange(range, size)
  if (selected !== 'unsatisfiable') return selected
  const detail = `The range contains none of the file's ${size} bytes.`
  throw new AppError('range_not_satisfiable', detail, { facts: { size } })
}

/** Anything but one range of bytes selects the whole, as RFC 9110 section 14.2 allows; `unsatisfiable` is 416. */
export function selectRange(
  header: string | undefined,
  size: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  if (header !== undefined && header.length > MAX_PARSED_LENGTH) return 'whole'
  const set = SPECIFIER.exec(header ?? '')?.[1] ?? ''
  const elements = set.split(',').map((element) => element.trim())
  // List elements may be empty (RFC 9110 section 5.6.1.2).
  const [spec = '', another] = elements.filter((element) => element !== '')
  const [isRange, from = '', to = ''] = /^(\d*)-(\d*)$/.exec(spec) ?? []
  if (isRange === undefined || another !== undefined || from + to === '') return 'whole'
  if (from === '') return lastBytes(Number(to), size)
  // Numbers too long to be exact are beyond any size.
  const first = Number(from)
  const last = to === '' ? Infinity : Number(to)
  if (last < first) return 'whole'
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable'
}

const SPECIFIER = /^bytes=(.*)$/i

/** A suffix range of an empty file selects the whole file, because no `Content-Range` could express it. */
function lastBytes(count: number, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (count === 0) return 'unsatisfiable'
  return size === 0 ? 'whole' : { first: Math.max(0, size - count), last: size - 1 }
}
