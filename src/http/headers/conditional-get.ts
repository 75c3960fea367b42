import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import { preconditionFailed } from '../../core/files/precondition.ts'
import type { Selection } from '../../core/files/repository.ts'
import type { ByteRange } from '../../core/objects/object-store.ts'
import { evaluatePreconditions, parsePreconditions, parseStrongEntityTag } from './preconditions.ts'

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
