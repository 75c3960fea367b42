import type { FastifyRequest } from 'fastify'
import { formatError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type BodyCheck, type ReadOptions, RequestBody, type RequestFile } from './request-body.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'

/** Accepts any body as the file. Throws `format_error` if encoded or with Content-Range (RFC 9110 section 14.5). */
export function openRawBody(
  request: Pick<FastifyRequest, 'raw' | 'intake' | 'headers'>,
  options: ReadOptions,
): RequestFile {
  const { headers } = request
  assertIdentity(headers)
  if (headers['content-range'] !== undefined) {
    throw formatError('Content-Range is not supported. Upload the whole file.')
  }
  const size = sizeOf(headers)
  return new RequestBody({ ...options, request, check: ANY_BYTES }).toFile(size)
}

const ANY_BYTES: BodyCheck = { write: (chunk, outlet) => outlet.push(chunk), end: () => {} }

function sizeOf(headers: FastifyRequest['headers']): IncomingFile['size'] {
  if (headers['transfer-encoding'] !== undefined) return { min: 0, announced: undefined }
  // Without Transfer-Encoding and Content-Length the body is empty (RFC 9112 section 6.3).
  const announced = contentLength(headers) ?? 0
  return { min: announced, announced, max: announced }
}
