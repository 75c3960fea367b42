import type { FastifyReply } from 'fastify'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { MAX_BYTES } from '../../core/byte-size.ts'
import { baseNameOf, type FileName } from '../../core/files/file-name.ts'
import { AppError, formatError, invalidParameter } from '../../core/errors.ts'

/** Throws `format_error` for any Content-Encoding but identity, and any Transfer-Encoding but chunked. */
export function assertIdentity(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw formatError('The request must not have a Content-Encoding header.')
  }
  if (!hasKnownCoding(headers)) {
    throw formatError('The only supported Transfer-Encoding is chunked.')
  }
}

/** Without one, a body ends with the connection at best. */
export function hasKnownCoding({ 'transfer-encoding': coding = 'chunked' }: IncomingHttpHeaders) {
  return coding.toLowerCase() === 'chunked'
}

/**
 * Refuses a part of a file by the IETF draft "Resumable Uploads for HTTP", which would otherwise be stored as the whole
 * file. Throws `invalid_parameter`.
 */
export function assertWholeFile({ 'upload-complete': complete = '?1' }: IncomingHttpHeaders): void {
  if (complete === '?1') return
  throw invalidParameter('Upload-Complete', 'A part of a file can only be sent with tus.')
}

/** Parameters don't matter. Throws `unsupported_media_type`. */
export function assertMediaType(
  { 'content-type': type = '' }: IncomingHttpHeaders,
  expected: string,
): void {
  if (type.split(';', 1)[0]?.trim().toLowerCase() === expected) return
  throw new AppError('unsupported_media_type', `The Content-Type must be ${expected}.`)
}

/** As it arrived, also if the request no longer shows it. */
export function receivedContentType({
  rawHeaders,
}: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const at = rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type',
  )
  return at === -1 ? undefined : rawHeaders[at + 1]
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

/**
 * Of a response with the entity tag of a file, which no proxy may compress: it would weaken the tag, and no `If-Match`
 * would hold any more.
 */
export const UNTRANSFORMED = 'private, no-cache, no-transform'

/**
 * Of the JSON that answers an upload. nginx ignores `no-transform`, but like other proxies compresses nothing that has a
 * `Content-Encoding`; `identity` is none.
 */
export function describeStored(reply: FastifyReply, version: string): void {
  void reply.headers({
    etag: `"${version}"`,
    'cache-control': UNTRANSFORMED,
    'content-encoding': 'identity',
  })
}

/** The last segment in ASCII, a fallback for old clients, and exactly, in UTF-8 (RFC 6266, RFC 8187). */
export function contentDisposition(
  name: FileName,
  type: 'attachment' | 'inline' = 'attachment',
): string {
  const base = baseNameOf(name)
  const ascii = base.replaceAll(/[^\u0020-\u007e]/gu, '_').replaceAll(/["\\%]/g, '_')
  // `encodeURIComponent` keeps four characters that RFC 8187 does not allow as `attr-char`.
  const exact = encodeURIComponent(base).replaceAll(/['()*]/g, percentEncoded)
  return `${type}; filename="${ascii}"; filename*=UTF-8''${exact}`
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** Adds names that `Vary` does not contain yet. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  void reply.header('vary', [...new Set([...known, ...names])].join(', '))
}

/**
 * A longer header is malformed, in characters. A head may have 16 KiB, of which some parsers take 8 ms of the event loop,
 * also for clients without a token. No header that a client needs is near this.
 */
export const MAX_PARSED_LENGTH = 1024
