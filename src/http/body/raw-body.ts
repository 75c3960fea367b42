import type { FastifyRequest } from 'fastify'
import { formatError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type BodyCheck, type ReadOptions, RequestBody, type RequestFile } from './request-body.ts'
import { assertIdentity, bodySize } from '../headers/content-headers.ts'

/** Accepts any body as the file. Throws `format_error` if encoded or with Content-Range (RFC 9110 section 14.5). */
export function openRawBody(request: FastifyRequest, options: ReadOptions): RequestFile {
  assertRawBody(request.headers)
  const { signal, keepsReceived } = options
  const { idleTimeoutMs } = request.server
  const body = new RequestBody({ request, check: ANY_BYTES, signal, idleTimeoutMs, keepsReceived })
  return body.toFile(sizeOf(request.headers))
}

/** Throws `format_error` for headers that `openRawBody` does not accept. */
export function assertRawBody(headers: FastifyRequest['headers']): void {
  assertIdentity(headers)
  if (headers['content-range'] === undefined) return
  throw formatError('Content-Range is not supported. Upload the whole file.')
}

const ANY_BYTES: BodyCheck = { write: (chunk, outlet) => outlet.push(chunk), end: () => {} }

function sizeOf(headers: FastifyRequest['headers']): IncomingFile['size'] {
  const announced = bodySize(headers)
  if (announced === undefined) return { min: 0, announced }
  return { min: announced, announced, max: announced }
}
