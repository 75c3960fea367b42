import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { ChunkThrottle, type Intake, isSmall } from '../body/chunk-throttle.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How its chunked body is read; the same each time. A body that has a Content-Length is read as it comes. */
    readonly intake: Intake | undefined
  }
}

/** Has the chunked bodies of all connections share the work for small chunks. */
export function shareIntake(app: FastifyInstance): void {
  const throttle = new ChunkThrottle()
  app.decorateRequest('intake', {
    getter() {
      const { headers, socket } = this.raw
      return headers['transfer-encoding'] === undefined ? undefined : throttle.intakeOf(socket)
    },
  })
}

/**
 * Leaves it to the handlers to answer `Expect: 100-continue`, so that a client that asks first is refused before it has
 * sent a byte. Node would tell every client to go on before any handler has seen the request.
 */
export function leaveContinueToHandlers(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => app.routing(request, response))
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
}

/** Leaves a body unread until somebody wants it. Throws `format_error` for any other expectation than `100-continue`. */
export function holdBody(request: FastifyRequest, reply: FastifyReply): void {
  const { headers, intake } = request
  if (intake !== undefined) {
    // Node would hold up to 64 KiB of it, in as many chunks as the client likes.
    intake.pause()
    reply.raw.once('close', () => intake.resume())
  }
  if (headers.expect !== undefined && !expectsContinue(request)) {
    throw new AppError('format_error', 'Nothing but 100-continue can be expected.')
  }
}

/** Whether the client waits to be told to send its body. */
export function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue'
}

/** Tells a client that waits for it to send its body. */
export function tellToContinue(request: FastifyRequest, reply: FastifyReply): void {
  if (expectsContinue(request)) reply.raw.writeContinue()
}

/** Whether a request has a body of which something has not been read. */
export function isUnread({ headers, readableEnded, destroyed }: IncomingMessage): boolean {
  if (readableEnded || destroyed) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export interface EarlyAnswer {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly payload: unknown
  /** How long what is left of the body is read after the answer, in milliseconds. */
  readonly maxMs: number
}

/** Bytes of a refused body that are read and thrown away after the answer. */
const MAX_BYTES = 32 * 2 ** 20
/** Chunks below 256 bytes of it: each costs as much work as kilobytes of large ones. */
const MAX_SMALL_CHUNKS = 32 * 2 ** 10

/**
 * Lets a refused uploader read its refusal (lingering close): an answer that is sent before the body has come goes out
 * whole at once, then the body is drained within limits, and only then the connection closes. Closing right away would
 * reset it while the client still writes, and throw the answer away unread. Returns what is to be sent for `payload`.
 */
export async function lingerOver(answer: EarlyAnswer): Promise<unknown> {
  const { request, reply, payload } = answer
  const { raw } = request
  if (raw.complete) {
    raw.resume()
    return payload
  }
  // No content can be streamed after a head that has none, so here the body comes first.
  if (payload === undefined || payload === null) await drain(answer)
  if (raw.complete) return payload
  void reply.header('connection', 'close')
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  void reply.header('content-length', Buffer.byteLength(payload))
  async function* answerThenDrain(): AsyncGenerator {
    yield payload
    await drain(answer)
  }
  return Readable.from(answerThenDrain(), { objectMode: false })
}

/** Reads and discards what is left of the body, until it ends or a limit is reached. Never rejects. */
function drain({ request: { raw, intake }, maxMs }: EarlyAnswer): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    let smallChunks = 0
    const timer = setTimeout(finish, maxMs)
    function count(chunk: Buffer): void {
      intake?.count(chunk)
      bytes += chunk.length
      if (isSmall(chunk)) smallChunks += 1
      if (bytes >= MAX_BYTES || smallChunks >= MAX_SMALL_CHUNKS) finish()
    }
    function finish(): void {
      clearTimeout(timer)
      raw.off('data', count).off('end', finish).off('close', finish)
      // The chunks that one read has brought already go by; paused, the request would keep them until the connection closes.
      if (!raw.complete) (intake ?? raw).pause()
      resolve()
    }
    raw.unpipe()
    intake?.resume()
    raw.on('data', count).once('end', finish).once('close', finish).once('error', finish).resume()
  })
}
