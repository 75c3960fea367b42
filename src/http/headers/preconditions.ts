import {
  type EntityTags,
  includesEntityTag,
  isModifiedSince,
  type Precondition,
  preconditionFailed,
} from '../../core/files/precondition.ts'
import { parseHttpDate } from './http-date.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { Selection } from '../../core/files/repository.ts'
import type { ByteRange } from '../../core/objects/object-store.ts'

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
  const { ifModifiedSince: _, ...precondition } = parsePreconditions(headers)
  return precondition
}

/** As `parseWritePrecondition`, for a read. */
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

/**
 * Decides what of a file a GET or HEAD gets, by its conditional headers and `Range` (RFC 9110 section 13.2.2): nothing
 * is 304. Throws `precondition_failed`, `range_not_satisfiable` with the fact `size`, and `invalid_parameter` for a
 * malformed condition.
 */
export function selectRepresentation(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  file: File,
): Selection {
  const { version: etag, updatedAt: lastModified, size } = file
  const outcome = evaluatePreconditions(parsePreconditions(headers), { etag, lastModified })
  if (outcome === 'failed') throw preconditionFailed()
  if (outcome === 'not_modified') return 'nothing'
  const { range, 'if-range': ifRange } = headers
  if (method !== 'GET' || range === undefined) return 'whole'
  // Whether the range continues what the client has. Only the strong tag says so: a file that changed twice within a
  // second has one `Last-Modified` for two contents, which cannot be ruled out here, so a date is never strong (RFC 9110
  // sections 8.8.2.2 and 13.1.5) and the client gets the whole file.
  if (ifRange !== undefined && parseStrongEntityTag(String(ifRange)) !== etag) return 'whole'
  const selected = selectRange(range, size)
  if (selected !== 'unsatisfiable') return selected
  const detail = `No byte of the range is within the file, which has ${size} bytes.`
  throw new AppError('range_not_satisfiable', detail, { facts: { size } })
}

/**
 * Returns what a `Range` header asks of a content of `size` bytes: one range, cut to the content's end; the whole; or
 * `unsatisfiable` (416). The whole is also the answer to what RFC 9110 section 14.2 lets a server ignore: several
 * ranges, units other than bytes, and what is malformed, such as a range that ends before it begins.
 */
export function selectRange(
  header: string | undefined,
  size: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const set = SPECIFIER.exec(header ?? '')?.[1] ?? ''
  const elements = set.split(',').map((element) => element.trim())
  // Elements of a list may be empty (RFC 9110 section 5.6.1.2).
  const [spec = '', ...more] = elements.filter((element) => element !== '')
  const [isRange, from = '', to = ''] = /^(\d*)-(\d*)$/.exec(spec) ?? []
  if (isRange === undefined || more.length > 0 || from + to === '') return 'whole'
  if (from === '') return lastBytes(Number(to), size)
  // Numbers too long to be exact are beyond any size, and stay so.
  const first = Number(from)
  const last = to === '' ? Infinity : Number(to)
  if (last < first) return 'whole'
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable'
}

const SPECIFIER = /^bytes=(.*)$/i

/** The whole of an empty content satisfies it, and no `Content-Range` could say so. */
function lastBytes(count: number, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (count === 0) return 'unsatisfiable'
  return size === 0 ? 'whole' : { first: Math.max(0, size - count), last: size - 1 }
}
