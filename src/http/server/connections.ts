import { randomUUID } from 'node:crypto'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { AppError, type ErrorCode } from '../../core/errors.ts'
import { SECURITY_HEADERS } from './cors.ts'
import { type Problem, PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

export interface ConnectionsOptions {
  readonly logger: FastifyBaseLogger | undefined
  /** Counts what the parser refuses. */
  readonly meter?:
    | { refuse(refusal: { readonly status: number; readonly code: ErrorCode }): void }
    | undefined
}

/** Bytes that a connection has carried, heads and framing included. */
export interface CarriedBytes {
  readonly bytesIn: number
  readonly bytesOut: number
}

class Connection {
  /** Of its listener. */
  options: ConnectionsOptions | undefined
  /** To the request in progress, or to the last one as long as its body has not come whole. */
  answer: ServerResponse | undefined
  /** By `performance.now()`; `undefined` while a request is in progress. */
  idleSince: number | undefined = performance.now()
  isClosing = false
  isTimedOut = false
  /** What was told of its bytes so far. */
  told: CarriedBytes = { bytesIn: 0, bytesOut: 0 }
}

type ParserError = Error & { readonly code?: string }

/**
 * The connections of all listeners.
 *
 * - They take requests one at a time: a request that is sent before the answer to the one before it (pipelining, which no
 *   common client does) is not looked at, and the connection closes after that answer. Else uploads could overtake one
 *   another, and one connection could have thousands of files open.
 * - What the HTTP parser refuses (framing errors, a head that is too large or comes too slowly) is answered, and the
 *   connection closed: after such an error nobody knows where the next request would begin. Nothing of it gets into the
 *   answer to a request before it, which is sent to its end.
 * - They know what a service that is about to close has to know, and hold requests back for a moment.
 */
export class Connections {
  readonly #open = new Set<Socket>()
  readonly #known = new WeakMap<Socket, Connection>()
  #lastChangedAt = Number.NEGATIVE_INFINITY
  #quietSince = performance.now()
  /** What waits to begin, while requests are held back. */
  #held: (() => void)[] | undefined

  /** Watches the connections of a server from now on. `refuse` is to be its `clientErrorHandler`. */
  watch(server: Server, options: ConnectionsOptions): void {
    server.on('connection', (socket) => {
      this.#lastChangedAt = performance.now()
      this.#open.add(socket)
      const connection = this.#of(socket)
      connection.options = options
      socket.once('timeout', () => (connection.isTimedOut = true))
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#quietSince = performance.now()
      })
    })
    // Node closes the connection without a word where nobody listens.
    server.on('connect', (_request, socket: Socket) => {
      // Node has let go of the socket: what befalls it from here on is nobody else's to handle.
      socket.on('error', () => socket.destroy())
      const isIdle = this.#of(socket).idleSince !== undefined
      this.refuse(Object.assign(new Error('CONNECT'), { code: 'CONNECT' }), socket)
      if (isIdle) socket.destroySoon()
    })
  }

  /** Calls `start` at once, or when requests are no longer held back. Returns `false` for one that came too early. */
  begin(answer: ServerResponse, start: () => void): boolean {
    const { req } = answer
    const connection = this.#of(req.socket)
    if (connection.idleSince === undefined) {
      closeAfterAnswer(connection, req.socket)
      return false
    }
    connection.answer = answer
    connection.idleSince = undefined
    answer.once('close', () => {
      this.#lastChangedAt = performance.now()
      connection.idleSince = this.#lastChangedAt
      if (req.complete) connection.answer = undefined
    })
    if (this.#held === undefined) start()
    else this.#held.push(start)
    return true
  }

  /** Answers what the HTTP parser refuses, and a `CONNECT`, which only a proxy can serve. */
  readonly refuse = (error: ParserError, socket: Socket): void => {
    const connection = this.#of(socket)
    const { answer, idleSince } = connection
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') connection.isTimedOut = true
    // Every further byte of a connection that is no longer understood is an error again.
    if (connection.isClosing) return
    // The request had come whole, so that what follows it is not its own.
    if (idleSince === undefined && answer?.req.complete === true) {
      closeAfterAnswer(connection, socket)
      return
    }
    connection.isClosing = true
    // What is left of a body whose request has been answered: a second answer would be taken for that to the next.
    if (answer?.headersSent === true || !socket.writable) socket.destroy()
    else if (error.code !== 'ECONNRESET') answerRefusal(connection, error, socket)
  }

  /** Whether the connection has closed since it was silent for too long. */
  isTimedOut(socket: Socket): boolean {
    return this.#of(socket).isTimedOut
  }

  /** What a connection has carried since this was last asked: its requests come one at a time. */
  takeBytes(socket: Socket): CarriedBytes {
    const connection = this.#of(socket)
    const { told } = connection
    // What waits in this process has not been sent; a write that was broken off counts as sent.
    const bytesOut = Math.max(told.bytesOut, socket.bytesWritten - socket.writableLength)
    connection.told = { bytesIn: socket.bytesRead, bytesOut }
    return { bytesIn: socket.bytesRead - told.bytesIn, bytesOut: bytesOut - told.bytesOut }
  }

  /** Holds back the requests that come, until what is returned is disposed of. */
  hold(): Disposable {
    this.#held = []
    return {
      [Symbol.dispose]: () => {
        const held = this.#held ?? []
        this.#held = undefined
        for (const start of held) start()
      },
    }
  }

  /** When one was accepted or an answer on one was over last, by `performance.now()`; before any time when none was. */
  lastChangedAt(): number {
    return this.#lastChangedAt
  }

  /** For how long none has been open, in milliseconds; 0 while there is one. */
  quietMs(): number {
    return this.#open.size > 0 ? 0 : performance.now() - this.#quietSince
  }

  /** Closes those on which no request has been in progress for that long, in milliseconds. */
  closeIdle(olderThanMs: number): void {
    const before = performance.now() - olderThanMs
    for (const socket of this.#open) {
      const { idleSince = Infinity } = this.#of(socket)
      if (idleSince <= before) socket.destroySoon()
    }
  }

  #of(socket: Socket): Connection {
    const connection = this.#known.get(socket) ?? new Connection()
    this.#known.set(socket, connection)
    return connection
  }
}

function closeAfterAnswer(connection: Connection, socket: Socket): void {
  if (connection.isClosing) return
  connection.isClosing = true
  socket.pause()
  connection.answer?.once('close', () => socket.destroySoon())
}

function answerRefusal(connection: Connection, error: ParserError, socket: Socket): void {
  const { options, answer } = connection
  const refusal = new AppError(...(REFUSALS[error.code ?? ''] ?? MALFORMED))
  const problem = problemOf(refusal, randomUUID())
  const { status, code, request_id } = problem
  const line = { request_id, status, code, reason: error.message, address: socket.remoteAddress }
  options?.logger?.info(line, 'request that the parser refused')
  options?.meter?.refuse({ status, code })
  socket.end(messageOf(problem, { isHead: answer?.req.method === 'HEAD' }))
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
