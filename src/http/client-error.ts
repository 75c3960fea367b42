import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { AppError, type ErrorCode } from '../core/errors.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

export interface ClientErrors {
  /** Fastify's `clientErrorHandler`. */
  readonly answer: (error: Error & { code?: string }, socket: Socket) => void
  /** Tells `answer` what is being answered on a connection; to be registered before all routes. */
  readonly plugin: FastifyPluginAsync
}

/**
 * Answers what the HTTP parser refuses (framing errors, a head that is too large or comes too slowly) and closes the
 * connection: after such an error nobody knows where the next request would begin. Nothing of it gets into the answer
 * to a request before it, which is sent to its end.
 */
export function createClientErrors(): ClientErrors {
  const answers = new WeakMap<Socket, ServerResponse>()
  const closing = new WeakSet<Socket>()
  return {
    answer(error, socket) {
      // Every further byte of a connection that is no longer understood is an error again.
      if (closing.has(socket)) return
      closing.add(socket)
      const answer = answers.get(socket)
      if (answer?.req.complete === true) closeAfter(answer, socket)
      else if (answer?.headersSent === true || !socket.writable) socket.destroy()
      else if (error.code !== 'ECONNRESET') socket.end(refusal(error))
    },
    plugin: fp(
      async (app) => {
        app.addHook('onRequest', async ({ socket }, { raw }) => {
          answers.set(socket, raw)
          raw.once('close', () => {
            if (answers.get(socket) === raw) answers.delete(socket)
          })
        })
      },
      { name: 'client-errors', fastify: '5.x' },
    ),
  }
}

/** The request had come whole, so the fault is in what follows it. */
function closeAfter(answer: ServerResponse, socket: Socket): void {
  socket.pause()
  answer.once('close', () => socket.destroySoon())
}

function refusal({ code = '' }: { code?: string }): string {
  const known = new AppError(...(REFUSALS[code] ?? MALFORMED))
  const problem = problemOf(known, randomUUID())
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const MALFORMED = ['format_error', 'The request is not valid HTTP.'] as const

/** By the code of Node's error. */
const REFUSALS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['request_head_too_large', 'The head of the request is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The head of the request did not come in time.'],
}
