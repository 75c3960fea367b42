import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../core/errors.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

/**
 * Answers what the HTTP parser refuses (framing errors, a head that is too large or comes too slowly) and closes the
 * connection: after such an error nobody knows where the next request would begin.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, refusal] = REFUSALS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({
    ...problemOf(refusal, randomUUID()),
    status,
    title: STATUS_CODES[status],
  })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const MALFORMED = [400, new AppError('format_error', 'The request is not valid HTTP.')] as const

const REFUSALS: Readonly<Record<string, readonly [number, AppError]>> = {
  HPE_HEADER_OVERFLOW: [431, new AppError('format_error', 'The head of the request is too large.')],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    new AppError('request_timeout', 'The head of the request did not come in time.'),
  ],
}
