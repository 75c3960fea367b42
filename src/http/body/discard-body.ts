import type { FastifyReply } from 'fastify'
import { Deadline } from '../../core/async/deadline.ts'
import { AppError } from '../../core/errors.ts'
import { atMost, bodyTooLarge, RequestBody } from './request-body.ts'
import { isUnread, tellToContinue } from '../server/unread-body.ts'

/** A generous limit: no client needs to send a body here. */
const MAX_BODY_BYTES = 64 * 1024

/**
 * Resolves when an unwanted body has ended, so that nothing is done for a malformed request. Rejects with
 * `format_error`, `truncated_body`, or `request_timeout` (incomplete after `idleTimeoutMs`).
 */
export async function discardBody(reply: FastifyReply): Promise<void> {
  const { request } = reply
  const { headers, server } = request
  const length = Number(headers['content-length'] ?? 0)
  if (headers['transfer-encoding'] === undefined && length === 0) return
  if (length > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES)
  tellToContinue(reply)
  const { idleTimeoutMs, signals } = server
  const check = atMost(MAX_BODY_BYTES)
  const body = new RequestBody({ request, check, signal: signals.shutdown, idleTimeoutMs })
  body.stream.resume()
  const deadline = new Deadline(idleTimeoutMs, () => body.fail(tooLate()))
  try {
    await body.ended
  } finally {
    deadline.clear()
  }
}

/**
 * As `discardBody`, for a request to read something, which may be read already. Also rejects as `reverify` if the access
 * has ended meanwhile: a client can make the service wait so long for a byte.
 */
export async function discardUnread(reply: FastifyReply): Promise<void> {
  const { raw, subject } = reply.request
  if (!isUnread(raw)) return
  await discardBody(reply)
  await subject?.reverify()
}

function tooLate(): AppError {
  return new AppError('request_timeout', 'The body did not arrive in time.')
}
