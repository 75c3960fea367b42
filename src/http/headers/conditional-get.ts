import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import { preconditionFailed } from '../../core/files/precondition.ts'
import type { Selection } from '../../core/files/repository.ts'
import type { ByteRange } from '../../core/objects/object-store.ts'
import { parseStrongEntityTag } from './entity-tags.ts'
import { evaluatePreconditions, parsePreconditions } from './preconditions.ts'

/**
 * Decides what of a file a GET or HEAD gets, by its conditional headers and `Range` (RFC 9110 section 13.2.2): nothing
 * is 304. Throws `precondition_failed`, `range_not_satisfiable` with the fact `size`, and `invalid_parameter` for a
 * malformed condition.
 */
export function selectRepresentation(
  request: { readonly method: string; readonly headers: IncomingHttpHeaders },
  file: File,
): Selection {
  const { method, headers } = request
  const validators = { etag: file.version, lastModified: file.updatedAt }
  switch (evaluatePreconditions(parsePreconditions(headers), validators)) {
    case 'failed':
      throw preconditionFailed()
    case 'not_modified':
      return 'nothing'
    case 'met':
      return method === 'GET' ? selectPart(headers, file) : 'whole'
  }
}

/**
 * A range counts only when it continues what the client has. Only the strong tag says so: a file that changed twice within
 * a second has one `Last-Modified` for two contents, which cannot be ruled out here, so a date is never strong (RFC 9110
 * sections 8.8.2.2 and 13.1.5) and the client gets the whole file.
 */
function selectPart({ range, 'if-range': ifRange }: IncomingHttpHeaders, file: File): Selection {
  if (range === undefined) return 'whole'
  if (ifRange !== undefined && parseStrongEntityTag(String(ifRange)) !== file.version)
    return 'whole'
  const { size } = file
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
export function selectRange(header: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const set = SPECIFIER.exec(header)?.[1] ?? ''
  const elements = set.split(',').map((element) => element.trim())
  // Elements of a list may be empty (RFC 9110 section 5.6.1.2).
  const [spec, ...more] = elements.filter((element) => element !== '')
  if (spec === undefined || more.length > 0) return 'whole'
  return suffixRange(spec, size) ?? intRange(spec, size) ?? 'whole'
}

const SPECIFIER = /^bytes=(.*)$/i

/** The last bytes. The whole of an empty content satisfies it, and no `Content-Range` could say so. */
function suffixRange(
  spec: string,
  size: number,
): ByteRange | 'whole' | 'unsatisfiable' | undefined {
  const digits = /^-(\d+)$/.exec(spec)?.[1]
  if (digits === undefined) return undefined
  if (Number(digits) === 0) return 'unsatisfiable'
  if (size === 0) return 'whole'
  return { first: Math.max(0, size - Number(digits)), last: size - 1 }
}

/** From a byte on, up to another or to the end. Numbers too long to be exact are beyond any size, and stay so. */
function intRange(spec: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^(\d+)-(\d*)$/.exec(spec) ?? []
  if (from === undefined || to === undefined) return undefined
  const first = Number(from)
  const last = to === '' ? Infinity : Number(to)
  if (last < first) return undefined
  return first < size ? { first, last: Math.min(last, size - 1) } : 'unsatisfiable'
}
