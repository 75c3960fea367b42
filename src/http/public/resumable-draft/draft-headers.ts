import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { parseItem } from 'structured-headers'
import { AppError, invalidParameter } from '../../../core/errors.ts'
import { bodySize } from '../../headers/content-headers.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'

/** The iteration of draft-ietf-httpbis-resumable-upload: drafts 09 to 12. */
export const INTEROP_VERSION = 8

export const PARTIAL_MEDIA_TYPE = 'application/partial-upload'

export function interopVersion(headers: IncomingHttpHeaders): number | undefined {
  return integerOf(headers['upload-draft-interop-version'])
}

/** `undefined` if missing or malformed. */
export function completeness(headers: IncomingHttpHeaders): boolean | undefined {
  const value = itemOf(headers['upload-complete'])
  return typeof value === 'boolean' ? value : undefined
}

/** Whether the content is the end of the file. Throws `invalid_parameter` if missing or malformed. */
export function parseComplete(headers: IncomingHttpHeaders): boolean {
  const isLast = completeness(headers)
  if (isLast === undefined) throw invalid('Upload-Complete', 'must be ?1 or ?0')
  return isLast
}

/** Throws `invalid_parameter` if missing or malformed. */
export function parseOffset(headers: IncomingHttpHeaders): number {
  return parseBytes(headers, 'Upload-Offset')
}

/**
 * The length that the request indicates, by `Upload-Length` or by where its content ends the file. Throws
 * `invalid_parameter` if malformed, and `inconsistentLength` if the two differ.
 */
export function parseLength(
  headers: IncomingHttpHeaders,
  { offset, isLast }: { readonly offset: number; readonly isLast: boolean },
): number | undefined {
  const isAnnounced = headers['upload-length'] !== undefined
  const announced = isAnnounced ? parseBytes(headers, 'Upload-Length') : undefined
  const size = bodySize(headers)
  const end = isLast && size !== undefined ? offset + size : undefined
  if (announced === undefined || end === undefined || announced === end) return announced ?? end
  throw inconsistentLength('Upload-Length is not where the content ends.')
}

/** Of the content, as the checksum of an append. Throws `invalid_parameter`; algorithms but SHA-256 are ignored. */
export function parseContentDigest(headers: IncomingHttpHeaders) {
  const hex = parseReprDigest(headers['content-digest']?.toString(), 'Content-Digest')
  if (hex === undefined) return undefined
  return { algorithm: 'sha256', digest: Buffer.from(hex, 'hex').toString('base64') } as const
}

/** Throws `unsupported_media_type`. */
export function assertPartialUpload({ 'content-type': type = '' }: IncomingHttpHeaders): void {
  if (type.split(';', 1)[0]?.trim().toLowerCase() === PARTIAL_MEDIA_TYPE) return
  throw new AppError('unsupported_media_type', `The Content-Type must be ${PARTIAL_MEDIA_TYPE}.`)
}

export interface UploadLimits {
  /** In bytes. */
  readonly maxFileSize: number
  /** When the upload expires, if it is unfinished. */
  readonly expiresAt?: number | undefined
}

export function limitHeader({ maxFileSize, expiresAt }: UploadLimits): OutgoingHttpHeaders {
  const maxAge = expiresAt === undefined ? [] : [`max-age=${secondsUntil(expiresAt)}`]
  return { 'upload-limit': [`max-size=${maxFileSize}`, ...maxAge].join(', ') }
}

function secondsUntil(time: number): number {
  return Math.max(0, Math.floor((time - Date.now()) / 1000))
}

export function inconsistentLength(detail: string): AppError {
  const type = 'https://iana.org/assignments/http-problem-types#inconsistent-upload-length'
  const facts = { parameter: 'Upload-Length', type, title: 'Inconsistent Upload Length Values' }
  return new AppError('invalid_parameter', detail, { facts })
}

function parseBytes(headers: IncomingHttpHeaders, name: string): number {
  const bytes = integerOf(headers[name.toLowerCase()])
  if (bytes === undefined) throw invalid(name, 'must be a whole number of bytes')
  return bytes
}

function invalid(header: string, rule: string): AppError {
  return invalidParameter(header, `The header ${header} ${rule}.`)
}

/** A non-negative Integer of RFC 9651 section 3.3.1. The parser does not tell it from a Decimal such as `1.0`. */
function integerOf(header: string | string[] | undefined): number | undefined {
  const value = itemOf(header)
  return typeof value === 'number' && /^ *\d+ *(;|$)/.test(String(header)) ? value : undefined
}

function itemOf(header: string | string[] | undefined): unknown {
  if (header === undefined) return undefined
  try {
    return parseItem(header.toString())[0]
  } catch {
    return undefined
  }
}
