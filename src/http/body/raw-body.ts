import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type BodyCheck, RequestBody } from './request-body.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'

/** A file that is the whole body of its request. Whoever opened it disposes of it, whatever happens. */
export interface RawBody extends IncomingFile, Disposable {
  /** Stops reading. The request is left paused and can be drained. No harm after `end`. */
  [Symbol.dispose](): void
}

export interface OpenRawBodyOptions {
  /** Stops the body; an `AppError` as its reason is what the body fails with. */
  readonly signal: AbortSignal
  /** How long the client may be silent, and the time over which it must send 1 KiB/s on average; in milliseconds. */
  readonly idleTimeoutMs: number
}

/**
 * Takes the body of a request as it is, whatever its Content-Type. It fails with `truncated_body` or
 * `request_timeout`. Throws `format_error` when the headers say that the body is not the file: it is encoded, or a
 * part of the file (RFC 9110 section 14.5 wants that refused).
 */
export function openRawBody(
  request: Pick<FastifyRequest, 'raw' | 'intake' | 'headers'>,
  options: OpenRawBodyOptions,
): RawBody {
  const { headers } = request
  assertIdentity(headers)
  if (headers['content-range'] !== undefined) {
    throw new AppError('format_error', 'A file is uploaded whole, without Content-Range.')
  }
  const body = new RequestBody({ ...options, request, check: ANY_BYTES })
  const content = body.stream
  const stop = (): void => {
    // An error is made of a stack, which is not for nothing.
    if (!body.isOver) body.fail(new AppError('truncated_body', 'The body was not read to its end.'))
  }
  content.once('close', () => {
    if (!content.readableEnded) stop()
  })
  const size = sizeOf(headers)
  return { content, size, end: () => body.ended, [Symbol.dispose]: stop }
}

const ANY_BYTES: BodyCheck = { write: (chunk, content) => content.push(chunk), end: () => {} }

/** The size that a body with these headers has: known, or not at all. */
function sizeOf(headers: FastifyRequest['headers']): IncomingFile['size'] {
  if (headers['transfer-encoding'] !== undefined) return { min: 0, announced: undefined }
  // A request that says nothing of a body has an empty one (RFC 9112 section 6.3).
  const announced = contentLength(headers) ?? 0
  return { min: announced, announced, max: announced }
}
