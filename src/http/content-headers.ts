import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.ts'

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

/** Bytes of the body that the headers announce, or `undefined` when they don't. */
export function contentLength(headers: IncomingHttpHeaders): number | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return length === undefined || coding !== undefined ? undefined : Number(length)
}
