import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type BodyCheck, type ReadOptions, RequestBody, type RequestFile } from './request-body.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'

/**
 * Takes the body of a request as it is, whatever its Content-Type. It fails with `truncated_body` or
 * `request_timeout`. Throws `format_error` when the headers say that the body is not the file: it is encoded, or a
 * part of the file (RFC 9110 section 14.5 wants that refused).
 */
export function openRawBody(
  request: Pick<FastifyRequest, 'raw' | 'intake' | 'headers'>,
  options: ReadOptions,
): RequestFile {
  const { headers } = request
  assertIdentity(headers)
  if (headers['content-range'] !== undefined) {
    throw new AppError('format_error', 'A file is uploaded whole, without Content-Range.')
  }
  const size = sizeOf(headers)
  return new RequestBody({ ...options, request, check: ANY_BYTES }).toFile(size)
}

const ANY_BYTES: BodyCheck = { write: (chunk, outlet) => outlet.push(chunk), end: () => {} }

/** The size that a body with these headers has: known, or not at all. */
function sizeOf(headers: FastifyRequest['headers']): IncomingFile['size'] {
  if (headers['transfer-encoding'] !== undefined) return { min: 0, announced: undefined }
  // A request that says nothing of a body has an empty one (RFC 9112 section 6.3).
  const announced = contentLength(headers) ?? 0
  return { min: announced, announced, max: announced }
}
