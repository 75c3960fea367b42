import type { IncomingHttpHeaders } from 'node:http'
import { MAX_BYTES } from '../../core/byte-size.ts'
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
