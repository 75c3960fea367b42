import type { IncomingHttpHeaders } from 'node:http'
import { parseItem } from 'structured-headers'
import { AppError } from '../../../core/errors.ts'
import { bodySize } from '../../headers/content-headers.ts'
import { MAX_PARSED_LENGTH } from '../../headers/parsed-length.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { invalid } from '../uploads/tus-headers.ts'

/** The iteration of draft-ietf-httpbis-resumable-upload: drafts 09 to 12. */
export const INTEROP_VERSION = 8

export const PARTIAL_MEDIA_TYPE = 'application/partial-upload'

/** Whether a request to an upload is by the draft. One that names both protocols is by tus. */
export function speaksDraft({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return headers['tus-resumable'] === undefined && isInteropVersion(headers)
}

export function isInteropVersion(headers: IncomingHttpHeaders): boolean {
  return integerOf(headers['upload-draft-interop-version']) === INTEROP_VERSION
}

/** Whether the content is the end of the file; `undefined` if the header is missing or malformed. */
export function completeness(headers: IncomingHttpHeaders): boolean | undefined {
  const value = itemOf(headers['upload-complete'])
  return typeof value === 'boolean' ? value : undefined
}

/**
 * The headers that creations and appends have in common. The length is that of `Upload-Length`, or where the content
 * ends the file. Throws `invalid_parameter` if one is malformed, and `inconsistentLength` if these two differ.
 */
export function parseContent(headers: IncomingHttpHeaders, offset: number) {
  const isLast = completeness(headers)
  if (isLast === undefined) throw invalid('Upload-Complete', 'must be ?1 or ?0')
  const isAnnounced = headers['upload-length'] !== undefined
  const announced = isAnnounced ? parseBytes(headers, 'Upload-Length') : undefined
  const size = bodySize(headers)
  const end = isLast && size !== undefined ? offset + size : undefined
  if (announced !== undefined && end !== undefined && announced !== end) {
    throw inconsistentLength('Upload-Length is not where the content ends.')
  }
  return { isLast, length: announced ?? end, checksum: parseContentDigest(headers) }
}

/** Algorithms but SHA-256 are ignored. */
function parseContentDigest(headers: IncomingHttpHeaders) {
  const hex = parseReprDigest(headers['content-digest']?.toString(), 'Content-Digest')
  if (hex === undefined) return undefined
  return { algorithm: 'sha256', digest: Buffer.from(hex, 'hex').toString('base64') } as const
}

/** A number of bytes. Throws `invalid_parameter` if missing or malformed. */
export function parseBytes(headers: IncomingHttpHeaders, name: string): number {
  const bytes = integerOf(headers[name.toLowerCase()])
  if (bytes === undefined) throw invalid(name, 'must be a whole number of bytes')
  return bytes
}

/** `expiresAt`: when an unfinished upload expires. */
export function limitHeader(maxFileSize: number, expiresAt?: number) {
  const seconds = expiresAt && Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  const maxAge = seconds === undefined ? '' : `, max-age=${seconds}`
  return { 'upload-limit': `max-size=${maxFileSize}${maxAge}` }
}

export function inconsistentLength(detail: string): AppError {
  const type = 'https://iana.org/assignments/http-problem-types#inconsistent-upload-length'
  const facts = { parameter: 'Upload-Length', type, title: 'Inconsistent Upload Length Values' }
  return new AppError('invalid_parameter', detail, { facts })
}

/** A non-negative Integer of RFC 9651 section 3.3.1. The parser does not tell it from a Decimal such as `1.0`. */
function integerOf(header: string | string[] | undefined): number | undefined {
  const value = itemOf(header)
  return typeof value === 'number' && /^ *\d+ *(;|$)/.test(String(header)) ? value : undefined
}

function itemOf(header: string | string[] | undefined): unknown {
  if (header === undefined || header.length > MAX_PARSED_LENGTH) return undefined
  try {
    return parseItem(header.toString())[0]
  } catch {
    return undefined
  }
}
