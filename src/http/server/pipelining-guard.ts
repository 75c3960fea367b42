import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { AppError, type ErrorCode } from '../../core/errors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { type Problem, PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'
import type { RequestMeter } from './request-meter.ts'

export interface Connections {
  /** Fastify's `clientErrorHandler`. A `CONNECT`, which only a proxy can serve, is answered by it too. */
  readonly answer: (error: Error & { code?: string }, socket: Socket) => void
  /** To be told of a request that the router refuses, since it meets no hook. */
  readonly onRefused: (request: IncomingMessage) => void
  /** To be registered before all else. */
  readonly plugin: FastifyPluginAsync
}

export interface ConnectionsOptions {
  readonly logger: FastifyBaseLogger | undefined
  /** Told of what the parser refuses. */
  readonly meter?: Pick<RequestMeter, 'refuse'> | undefined
}

/**
 * Keeps the requests of a connection apart.
 *
 * - One at a time: a request that is sent before the answer to the one before it (pipelining, which no common client
 *   does) is not looked at, and the connection closes after that answer. Else uploads could overtake one another, and
 *   one connection could have thousands of files open.
 * - What the HTTP parser refuses (framing errors, a head that is too large or comes too slowly) is answered, and the
 *   connection closed: after such an error nobody knows where the next request would begin. Nothing of it gets into the
 *   answer to a request before it, which is sent to its end.
 */
export function createConnections({ logger, meter }: ConnectionsOptions): Connections {
  const answers = new WeakMap<Socket, ServerResponse>()
  const closing = new WeakSet<Socket>()
  /** What the router has refused last. */
  const refused = new WeakMap<Socket, IncomingMessage>()

  /** The request had come whole, so that what follows it is not its own. */
  function closeAfter(answer: ServerResponse, socket: Socket): void {
    if (closing.has(socket)) return
    closing.add(socket)
    socket.pause()
    answer.once('close', () => socket.destroySoon())
  }

  function refuse(error: Error & { code?: string }, socket: Socket): void {
    const answer = answers.get(socket)
    const problem = problemOf(
      new AppError(...(REFUSALS[error.code ?? ''] ?? MALFORMED)),
      randomUUID(),
    )
    const { status, code, request_id } = problem
    const line = { request_id, status, code, reason: error.message, address: socket.remoteAddress }
    logger?.info(line, 'request that the parser refused')
    meter?.refuse({ status, code })
    const isHead = answer?.req.method === 'HEAD'
    socket.end(messageOf(problem, { isHead }))
  }

  function answer(error: Error & { code?: string }, socket: Socket): void {
    const answer = answers.get(socket)
    // Every further byte of a connection that is no longer understood is an error again.
    if (closing.has(socket)) return
    if (answer?.req.complete === true) {
      closeAfter(answer, socket)
      return
    }
    closing.add(socket)
    // What is left of a body whose request has been answered: a second answer would be taken for that to the next.
    const isAnswered = refused.get(socket)?.complete === false || answer?.headersSent === true
    if (isAnswered || !socket.writable) socket.destroy()
    else if (error.code !== 'ECONNRESET') refuse(error, socket)
  }

  return {
    answer,
    onRefused: (request) => void refused.set(request.socket, request),
    plugin: fp(
      async (app) => {
        // Node closes the connection without a word where nobody listens.
        app.server.on('connect', (_request, socket: Socket) => {
          // Node has let go of the socket: what befalls it from here on is nobody else's to handle.
          socket.on('error', () => socket.destroy())
          const isFirst = !answers.has(socket)
          answer(Object.assign(new Error('CONNECT'), { code: 'CONNECT' }), socket)
          if (isFirst) socket.destroySoon()
        })
        app.addHook('onRequest', ({ socket }, reply, done) => {
          const before = answers.get(socket)
          if (before !== undefined) {
            closeAfter(before, socket)
            reply.hijack()
            return
          }
          answers.set(socket, reply.raw)
          reply.raw.once('close', () => answers.delete(socket))
          done()
        })
      },
      { name: 'connections', fastify: '5.x', dependencies: [], decorators: {} },
    ),
  }
}

function messageOf(problem: Problem, { isHead }: { isHead: boolean }): string {
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${problem.request_id}`,
    'Cache-Control: no-store',
    ...Object.entries(SECURITY_HEADERS).map((pair) => pair.join(': ')),
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`
}

const MALFORMED = ['format_error', 'The request is not valid HTTP.'] as const

/** By the code of Node's error. */
const REFUSALS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['request_head_too_large', 'The head of the request is too large.'],
  CONNECT: ['format_error', 'This server is no proxy.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not come in time.'],
}
