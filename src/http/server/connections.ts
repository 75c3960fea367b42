import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { AppError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/error-codes.ts'
import { ReadTurns } from '../body/read-turns.ts'
import { SECURITY_HEADERS } from '../headers/security-headers.ts'
import { ConnectionSlots, defaultMaxConnections } from './connection-slots.ts'
import { destroyLater, LingeringClose } from './lingering-close.ts'
import { type Problem, PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

export interface ConnectionsOptions {
  readonly logger: FastifyBaseLogger | undefined
  readonly meter?:
    | { refuse(refusal: { readonly status: number; readonly code: ErrorCode }): void }
    | undefined
}

/** Includes heads and framing. */
export interface CarriedBytes {
  readonly bytesIn: number
  readonly bytesOut: number
}

type ClosedBy = 'client' | 'timeout' | 'service'

class Connection {
  options: ConnectionsOptions | undefined
  /** To the request in progress, or to the last one until its body is complete. */
  answer: ServerResponse | undefined
  /** By `performance.now()`; `undefined` while a request is in progress. */
  idleSince: number | undefined = performance.now()
  isClosing = false
  /** Whether a request waits for the end of the complete answer before it. */
  hasNext = false
  ignoredRequests = 0
  /** Who ends it if it closes now; `service` if there are too many. */
  closedBy: ClosedBy = 'client'
  /** Totals already reported. */
  told: CarriedBytes = { bytesIn: 0, bytesOut: 0 }
}

type ParserError = Error & { readonly code?: string }

/**
 * The connections of all listeners. A pipelined request is ignored, and its connection closes after the current answer:
 * otherwise uploads could overtake one another, and one connection could open thousands of files. More than 100 ignored
 * requests close the connection immediately. A parser error is answered and closes the connection, since the next
 * request's start is unknown; a current answer is sent to its end.
 */
export class Connections {
  readonly reads = new ReadTurns((socket) => this.#of(socket).answer?.req)
  readonly #open = new Set<Socket>()
  readonly #known = new WeakMap<Socket, Connection>()
  readonly #lingeringClose = new LingeringClose()
  #lastChangedAt = Number.NEGATIVE_INFINITY
  #quietSince = performance.now()
  readonly #slots: ConnectionSlots
  #warnedAt = Number.NEGATIVE_INFINITY
  /** Set while requests are held back. */
  #held: (() => void)[] | undefined

  constructor({ max = defaultMaxConnections() }: { readonly max?: number } = {}) {
    const isIdle = (socket: Socket): boolean => this.#of(socket).idleSince !== undefined
    this.#slots = new ConnectionSlots({ max, isIdle })
  }

  /** Tracks the connections of `server`, whose `clientErrorHandler` must be `refuse`. */
  watch(server: Server, options: ConnectionsOptions): void {
    server.on('connection', (socket) => {
      this.reads.watch(socket)
      this.#lastChangedAt = performance.now()
      this.#open.add(socket)
      const connection = this.#of(socket)
      connection.options = options
      const crowded = this.#slots.take(socket)
      if (crowded !== undefined) this.#closeCrowded(crowded, options)
      socket.once('timeout', () => (connection.closedBy = 'timeout'))
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#quietSince = performance.now()
      })
    })
    // Without a listener Node closes the connection unanswered.
    server.on('connect', (_request, socket: Socket) => {
      // Node has detached the socket, so nothing else handles its errors.
      socket.on('error', () => socket.destroy())
      const isIdle = this.#of(socket).idleSince !== undefined
      this.refuse(Object.assign(new Error('CONNECT'), { code: 'CONNECT' }), socket)
      if (isIdle) socket.destroySoon()
    })
  }

  /**
   * Calls `start` now, or once requests are no longer held back and the answer before has ended. Returns `false` for a
   * pipelined request.
   */
  begin(answer: ServerResponse, start: () => void): boolean {
    const { req } = answer
    // Node may destroy a request with an error after its last reader has left.
    req.on('error', () => {})
    const connection = this.#of(req.socket)
    const { answer: previous, isClosing, idleSince, hasNext } = connection
    // A client can have the whole answer before libuv reports that the kernel has taken it.
    const isNext = idleSince === undefined && previous?.writableEnded === true && !hasNext
    // After the answer, Node still reads until the connection has closed.
    const isIgnored = isClosing || (idleSince === undefined && !isNext)
    this.reads.begin(req, { isIgnored })
    if (isIgnored) {
      this.#ignore(req, connection)
      return false
    }
    if (!isNext) {
      this.#start(connection, answer, start)
      return true
    }
    connection.hasNext = true
    const reads = this.reads.of(req.socket)
    reads?.pause()
    previous.once('close', () => {
      connection.hasNext = false
      reads?.resume()
      if (!connection.isClosing && req.socket.writable) this.#start(connection, answer, start)
    })
    return true
  }

  #start(connection: Connection, answer: ServerResponse, start: () => void): void {
    const { req } = answer
    connection.answer = answer
    connection.idleSince = undefined
    answer.once('close', () => {
      this.#lastChangedAt = performance.now()
      connection.idleSince = this.#lastChangedAt
      if (req.complete) forget()
      else req.once('close', forget)
    })
    function forget(): void {
      if (connection.answer === answer) connection.answer = undefined
    }
    if (this.#held === undefined) start()
    else this.#held.push(start)
  }

  /** Answers parser errors, and `CONNECT`, which only a proxy can serve. */
  readonly refuse = (error: ParserError, socket: Socket): void => {
    const connection = this.#of(socket)
    const { answer, idleSince } = connection
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') connection.closedBy = 'timeout'
    // After a parser error, every further byte is another one.
    if (connection.isClosing) return
    // The request is complete, so the error is in what follows it.
    if (idleSince === undefined && answer?.req.complete === true) {
      this.#closeAfterAnswer(connection, socket)
      return
    }
    connection.isClosing = true
    // The rest of an answered request's body: a second answer would be taken for the next request's.
    if (answer?.headersSent === true || !socket.writable) socket.destroy()
    else if (error.code !== 'ECONNRESET') answerRefusal(connection, error, socket)
  }

  closedBy(socket: Socket): ClosedBy {
    return this.#of(socket).closedBy
  }

  /** Bytes transferred since the last call. Requests come one at a time. */
  takeBytes(socket: Socket): CarriedBytes {
    const connection = this.#of(socket)
    const { told } = connection
    // Bytes buffered in this process are not sent yet; an aborted write counts as sent.
    const bytesOut = Math.max(told.bytesOut, socket.bytesWritten - socket.writableLength)
    connection.told = { bytesIn: socket.bytesRead, bytesOut }
    return { bytesIn: socket.bytesRead - told.bytesIn, bytesOut: bytesOut - told.bytesOut }
  }

  /** Holds back new requests until the result is disposed of. */
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

  /** When a connection was last accepted or an answer ended, by `performance.now()`; `-Infinity` if never. */
  lastChangedAt(): number {
    return this.#lastChangedAt
  }

  /** How long no connection has been open; 0 while one is. */
  quietMs(): number {
    return this.#open.size > 0 ? 0 : performance.now() - this.#quietSince
  }

  /** Closes connections that have had no request for at least that long. */
  closeIdle(olderThanMs: number): void {
    const before = performance.now() - olderThanMs
    for (const socket of this.#open) {
      const { idleSince = Infinity } = this.#of(socket)
      if (idleSince <= before) socket.destroySoon()
    }
  }

  #closeCrowded(socket: Socket, { logger }: ConnectionsOptions): void {
    this.#of(socket).closedBy = 'service'
    socket.destroy()
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    logger?.warn(
      'connection limit reached: closing connections of the client address with the most',
    )
  }

  #ignore(request: IncomingMessage, connection: Connection): void {
    connection.ignoredRequests += 1
    this.#closeAfterAnswer(connection, request.socket)
    if (connection.ignoredRequests > MAX_IGNORED_REQUESTS) request.socket.destroy()
    // Discards what has been read of its body.
    else request.resume()
  }

  #closeAfterAnswer(connection: Connection, socket: Socket): void {
    if (connection.isClosing) return
    connection.isClosing = true
    this.reads.of(socket)?.end()
    connection.answer?.once('close', () => this.#lingeringClose.close(socket))
  }

  #of(socket: Socket): Connection {
    const connection = this.#known.get(socket) ?? new Connection()
    this.#known.set(socket, connection)
    return connection
  }
}

const WARN_EVERY_MS = 60_000

/** One read can bring thousands, and Node keeps each until the connection has closed. */
const MAX_IGNORED_REQUESTS = 100

function answerRefusal(connection: Connection, error: ParserError, socket: Socket): void {
  const { options, answer } = connection
  const refusal = new AppError(...(REFUSALS[error.code ?? ''] ?? MALFORMED))
  const problem = problemOf(refusal, randomUUID())
  const { status, code, request_id } = problem
  const line = { request_id, status, code, reason: error.message, address: socket.remoteAddress }
  options?.logger?.info(line, 'request refused by the HTTP parser')
  options?.meter?.refuse({ status, code })
  socket.end(messageOf(problem, { isHead: answer?.req.method === 'HEAD' }))
  // A client that keeps its side open would otherwise keep the reservation of its upload.
  destroyLater(socket, REFUSED_LINGER_MS)
}

const REFUSED_LINGER_MS = 2_000

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

const REFUSALS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: [
    'request_head_too_large',
    'The request head is larger than 16 KiB, or has more than 200 headers.',
  ],
  CONNECT: ['format_error', 'This server is not a proxy.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
}
