import type { FastifyReply } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { MAX_BYTES } from '../../core/byte-size.ts'
import type { FileName } from '../../core/files/file-name.ts'
import { type Item, type InnerList, parseDictionary } from 'structured-headers'
import { type AppError, invalidParameter, formatError } from '../../core/errors.ts'

/** Throws `format_error` for any Content-Encoding but identity, and any Transfer-Encoding but chunked. */
export function assertIdentity(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw formatError('The request must not have a Content-Encoding header.')
  }
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    throw formatError('The only supported Transfer-Encoding is chunked.')
  }
}

/** `undefined` if none applies. Throws `format_error` above 2^53 - 1: Node's parser accepts up to 2^64 - 1. */
export function contentLength(headers: IncomingHttpHeaders): number | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (length === undefined || coding !== undefined) return undefined
  if (Number(length) > MAX_BYTES) {
    throw formatError('The Content-Length is larger than 2^53 - 1.')
  }
  return Number(length)
}

/** 0 without Content-Length and Transfer-Encoding (RFC 9112 section 6.3); `undefined` if chunked. */
export function bodySize(headers: IncomingHttpHeaders): number | undefined {
  return headers['transfer-encoding'] === undefined ? (contentLength(headers) ?? 0) : undefined
}

export interface ParameterizedValue {
  /** The part before the first `;`, in lower case. */
  readonly value: string
  /** In header order, with repetitions; names in lower case, values unquoted. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

/**
 * Parses a value with parameters (RFC 9110 section 5.6.6). Returns `undefined` if it is malformed. Stricter than most
 * parsers, so that no two disagree: no spaces around `=`, no quote in an unquoted value, nothing after a closing quote.
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
    // Only `\"` and `\\` are escapes: some clients send a path's backslashes as they are.
    const unquoted = quoted?.replaceAll(/\\(["\\])/g, '$1')
    if (name !== undefined) parameters.push([name.toLowerCase(), unquoted ?? bare ?? ''])
    at += whole.length
  }
  return { value: value.toLowerCase(), parameters }
}

const VALUE = /^[ \t]*([^ \t;,"=]+)[ \t]*/

const PARAMETER = /;[ \t]*(?:([^ \t;="]+)=(?:"((?:[^"\\]|\\[^])*)"|([^ \t;"]*))[ \t]*)?/y

/** ASCII for every name: a fallback for old clients, and the exact name in UTF-8 (RFC 6266, RFC 8187). */
export function contentDisposition(name: FileName): string {
  const ascii = name.replaceAll(/[^\u0020-\u007e]/gu, '_').replaceAll(/["\\%]/g, '_')
  // `encodeURIComponent` keeps four characters that RFC 8187 does not allow as `attr-char`.
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, percentEncoded)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

const ALGORITHM = 'sha-256'
const SHA256_BYTES = 32

export function formatReprDigest(sha256: string): string {
  return `${ALGORITHM}=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

/** Lower-case hexadecimal; `undefined` without SHA-256. Throws `invalid_parameter` if the header is malformed. */
export function parseReprDigest(
  header: string | undefined,
  name: 'Repr-Digest' | 'Content-Digest' = 'Repr-Digest',
): string | undefined {
  if (header === undefined) return undefined
  const members = dictionaryOf(header)
  if (members === undefined) throw malformed(name)
  const member = members.get(ALGORITHM)
  if (member === undefined) return undefined
  const [value] = member
  if (!(value instanceof ArrayBuffer) || value.byteLength !== SHA256_BYTES) throw malformed(name)
  return Buffer.from(value).toString('hex')
}

/** Whether a `Want-Repr-Digest` asks for SHA-256 (preference 1 to 10). A malformed header is ignored. */
export function wantsReprDigest(header: string | undefined): boolean {
  const [preference] = dictionaryOf(header ?? '')?.get(ALGORITHM) ?? []
  return Number.isInteger(preference) && Number(preference) >= 1 && Number(preference) <= 10
}

function dictionaryOf(text: string): ReadonlyMap<string, Item | InnerList> | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}

function malformed(name: string): AppError {
  return invalidParameter(
    name,
    `The ${name} header must be a dictionary whose sha-256 member is 32 bytes in base64, such as sha-256=:...:`,
  )
}

/** Adds names that `Vary` does not contain yet. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  void reply.header('vary', [...new Set([...known, ...names])].join(', '))
}
