import type { IncomingHttpHeaders } from 'node:http'
import { MAX_BYTES } from '../../core/byte-size.ts'
import type { FileName } from '../../core/files/file-name.ts'
import { type Item, type InnerList, parseDictionary } from 'structured-headers'
import { AppError } from '../../core/errors.ts'

/** Throws `format_error` unless the body comes as it is: neither compressed nor in another coding than chunks. */
export function assertIdentity(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new AppError('format_error', 'The body must not have a Content-Encoding.')
  }
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    throw new AppError('format_error', 'The only Transfer-Encoding is chunked.')
  }
}

/**
 * Bytes of the body that the headers announce, or `undefined` when they don't. Throws `format_error` above 2^53 - 1:
 * Node's parser takes lengths up to 2^64 - 1, which are exact in no number and fit into no column.
 */
export function contentLength(headers: IncomingHttpHeaders): number | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (length === undefined || coding !== undefined) return undefined
  if (Number(length) > MAX_BYTES) {
    throw new AppError('format_error', 'The Content-Length is above 2^53 - 1.')
  }
  return Number(length)
}

/** A header's value with parameters: `form-data; name="file"`, `multipart/form-data; boundary=x`. */
export interface ParameterizedValue {
  /** What stands before the first `;`, in lower case. */
  readonly value: string
  /** In the order of the header, repetitions included; names in lower case, values without their quotes. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

/**
 * Returns the value and parameters of a header (RFC 9110 section 5.6.6), or `undefined` when `text` is
 * anything else. Stricter than most parsers, so that no two of them can read it differently: no spaces
 * around `=`, no quote inside an unquoted value, nothing after a closing quote. Empty parameters are skipped.
 */
export function parseParameters(text: string): ParameterizedValue | undefined {
  const [start, value] = VALUE.exec(text) ?? []
  if (start === undefined || value === undefined) return undefined
  const parameters: [string, string][] = []
  let at = start.length
  while (at < text.length) {
    PARAMETER.lastIndex = at
    const [whole, name, quoted, bare] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return undefined
    // Only `\"` and `\\` are escapes: some clients send the backslashes of a path as they are.
    const unquoted = quoted?.replaceAll(/\\(["\\])/g, '$1')
    if (name !== undefined) parameters.push([name.toLowerCase(), unquoted ?? bare ?? ''])
    at += whole.length
  }
  return { value: value.toLowerCase(), parameters }
}

const VALUE = /^[ \t]*([^ \t;,"=]+)[ \t]*/

const PARAMETER = /;[ \t]*(?:([^ \t;="]+)=(?:"((?:[^"\\]|\\[^])*)"|([^ \t;"]*))[ \t]*)?/y

/**
 * The header that makes a browser save a download under its name (RFC 6266): an ASCII name for old clients, and the
 * exact one in UTF-8 (RFC 8187). Both forms are ASCII without controls, whatever the name holds.
 */
export function contentDisposition(name: FileName): string {
  const ascii = name.replaceAll(/[^\u0020-\u007e]/gu, '_').replaceAll(/["\\%]/g, '_')
  // `encodeURIComponent` spares four characters too many, which are no `attr-char` of RFC 8187.
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, percentEncoded)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

const ALGORITHM = 'sha-256'
const SHA256_BYTES = 32

/** Writes the `Repr-Digest` (RFC 9530) of a content with this SHA-256 in hexadecimal. */
export function formatReprDigest(sha256: string): string {
  return `${ALGORITHM}=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

/**
 * Returns the SHA-256 that a `Repr-Digest` states, as 64 lower-case hexadecimal digits, or `undefined` when there is no
 * header or it has other algorithms alone. Throws `invalid_parameter` when it is malformed: who sends one wants it
 * checked.
 */
export function parseReprDigest(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const members = dictionaryOf(header)
  if (members === undefined) throw malformed()
  const member = members.get(ALGORITHM)
  if (member === undefined) return undefined
  const [value] = member
  if (!(value instanceof ArrayBuffer) || value.byteLength !== SHA256_BYTES) throw malformed()
  return Buffer.from(value).toString('hex')
}

/**
 * Whether a `Want-Repr-Digest` asks for a SHA-256, with a preference from 1 to 10; 0 means not wanted. It is a wish, so
 * a malformed one is none.
 */
export function wantsReprDigest(header: string | undefined): boolean {
  const [preference] = dictionaryOf(header ?? '')?.get(ALGORITHM) ?? []
  return Number.isInteger(preference) && Number(preference) >= 1 && Number(preference) <= 10
}

/** A dictionary of RFC 9651, or `undefined` when the text is none. */
function dictionaryOf(text: string): ReadonlyMap<string, Item | InnerList> | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}

function malformed(): AppError {
  return new AppError(
    'invalid_parameter',
    'The header Repr-Digest is a dictionary whose sha-256 is 32 bytes in base64: sha-256=:...:',
    { facts: { parameter: 'Repr-Digest' } },
  )
}
