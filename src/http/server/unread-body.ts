import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formatError } from '../../core/errors.ts'
import type { SocketReads } from '../body/socket-reads.ts'
import type { Connections } from './connections.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** `undefined` unless the body is chunked; the same for all requests of a connection. */
    readonly reads: SocketReads | undefined
  }
}

export function shareReads(app: FastifyInstance, { reads }: Connections): void {
  app.decorateRequest('reads', {
    getter() {
      const { headers, socket } = this.raw
      return headers['transfer-encoding'] === undefined ? undefined : reads.of(socket)
    },
  })
}

/** Leaves `Expect: 100-continue` to the handlers; Node would invite every body before any of them runs. */
export function leaveContinueToHandlers(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => app.routing(request, response))
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
}

/** Leaves the body unread. Throws `format_error` for any expectation but `100-continue`. */
export function holdBody({ request, raw }: FastifyReply): void {
  const { headers, reads } = request
  if (reads !== undefined) {
    // Node would otherwise buffer up to 64 KiB, in any number of chunks.
    reads.pause()
    raw.once('close', () => reads.resume())
  }
  if (headers.expect !== undefined && !isContinue(headers.expect)) {
    throw formatError('The only supported Expect value is 100-continue.')
  }
}

/** `false` in HTTP/1.0, whose clients know no interim responses (RFC 9110 section 10.1.1). */
export function expectsContinue({ headers, raw }: FastifyRequest): boolean {
  return raw.httpVersion !== '1.0' && headers.expect !== undefined && isContinue(headers.expect)
}

function isContinue(expect: string): boolean {
  return expect.toLowerCase() === '100-continue'
}

export function tellToContinue({ request, raw }: FastifyReply): void {
  if (expectsContinue(request)) raw.writeContinue()
}

export function isUnread({ headers, readableEnded, destroyed }: IncomingMessage): boolean {
  if (readableEnded || destroyed) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export interface EarlyAnswer {
  readonly reply: FastifyReply
  readonly payload: unknown
  /** How long the body is drained after the answer. */
  readonly maxMs: number
}

/** Limits of draining a refused body: bytes, and small chunks of a chunked body. */
const MAX_BYTES = 32 * 2 ** 20
const MAX_SMALL_CHUNKS = 32 * 2 ** 10

/**
 * Lingering close: sends the refusal of an unread body at once, drains the body within limits, then closes. Closing
 * first would reset the connection and lose the answer. Returns what to send.
 */
export async function lingerOver(answer: EarlyAnswer): Promise<unknown> {
  const { reply, payload } = answer
  const { request } = reply
  const { raw } = request
  if (raw.complete) {
    raw.resume()
    return payload
  }
  // After a head without content nothing can be streamed, so the body is drained first.
  if (payload === undefined || payload === null) await drain(answer)
  if (raw.complete) return payload
  void reply.header('connection', 'close')
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  void reply.header('content-length', Buffer.byteLength(payload))
  async function* answerThenDrain(): AsyncGenerator {
    yield payload
    // The client can close the connection now that it has the whole response.
    request.isRefusalSent = true
    await drain(answer)
  }
  return Readable.from(answerThenDrain(), { objectMode: false })
}

/** Discards the rest of the body, within limits. Never rejects. */
function drain({ reply, maxMs }: EarlyAnswer): Promise<void> {
  const { raw, reads } = reply.request
  return new Promise((resolve) => {
    let bytes = 0
    let smallChunks = 0
    const timer = setTimeout(finish, maxMs)
    function count(chunk: Buffer): void {
      bytes += chunk.length
      if (reads?.count(chunk) === 'small') smallChunks += 1
      if (bytes >= MAX_BYTES || smallChunks >= MAX_SMALL_CHUNKS) finish()
    }
    function finish(): void {
      clearTimeout(timer)
      raw.off('data', count).off('end', finish).off('close', finish)
      // Chunks already read still pass: a paused request would keep them until the connection closes.
      if (!raw.complete) (reads ?? raw).pause()
      resolve()
    }
    raw.unpipe().pause()
    raw.on('data', count).once('end', finish).once('close', finish)
    reads?.resume()
    raw.resume()
  })
}
