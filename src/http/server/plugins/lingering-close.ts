import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isSmall } from '../../body/chunk-throttle.ts'

export interface LingeringCloseOptions {
  /** Bytes of a refused body that are read and thrown away after the answer. */
  readonly maxBytes: number
  /** Chunks below 256 bytes of it: each costs as much work as kilobytes of large ones. */
  readonly maxSmallChunks: number
  /** Milliseconds that this may take. */
  readonly maxMs: number
}

/**
 * Lets a refused uploader read its refusal: an answer that is sent before the body has come goes out whole at once,
 * then the body is drained within limits, and only then the connection closes. Closing right away would reset it
 * while the client still writes, and throw the answer away unread.
 */
export const lingeringClosePlugin = fp<LingeringCloseOptions>(
  async (app, limits) => {
    app.addHook('onSend', async (request, reply, payload) => {
      const { raw } = request
      if (!hasBody(raw) || raw.readableEnded || raw.destroyed) return payload
      if (raw.complete) {
        raw.resume()
        return payload
      }
      // No content can be streamed after a head that has none, so here the body comes first.
      if (payload === undefined || payload === null) await drain(request, limits)
      if (raw.complete) return payload
      void reply.header('connection', 'close')
      if (!isText(payload)) return payload
      void reply.header('content-length', Buffer.byteLength(payload))
      return Readable.from(answerThenDrain({ payload, request, limits }), { objectMode: false })
    })
  },
  { name: 'linger', fastify: '5.x', dependencies: ['chunk-throttle'], decorators: {} },
)

async function* answerThenDrain(options: {
  payload: string | Buffer
  request: FastifyRequest
  limits: LingeringCloseOptions
}): AsyncGenerator<string | Buffer> {
  yield options.payload
  await drain(options.request, options.limits)
}

/** Reads and discards what is left of the body, until it ends or a limit is reached. Never rejects. */
function drain({ raw, intake }: FastifyRequest, limits: LingeringCloseOptions): Promise<void> {
  const { maxBytes, maxSmallChunks, maxMs } = limits
  return new Promise((resolve) => {
    let bytes = 0
    let smallChunks = 0
    const timer = setTimeout(finish, maxMs)
    function count(chunk: Buffer): void {
      intake?.count(chunk)
      bytes += chunk.length
      if (isSmall(chunk)) smallChunks += 1
      if (bytes >= maxBytes || smallChunks >= maxSmallChunks) finish()
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

function hasBody(raw: IncomingMessage): boolean {
  return (
    raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0
  )
}

function isText(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}
