import type { ByteRange } from '../../core/objects/object-store.ts'

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
