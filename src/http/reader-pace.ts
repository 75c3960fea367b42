import type { FastifyReply } from 'fastify'
import { watchPace } from './pace.ts'

export interface ReaderPaceOptions {
  /** How long the sender of a body may be silent, in milliseconds; a reader may be so for three times as long. */
  readonly idleTimeoutMs: number
}

/** What a reader takes is seen only when a good part of the kernel's buffer has become free, which can be megabytes. */
const PATIENCE = 3

/** As `watchReader`, for an answer that the kernel mostly takes at once. */
export function watchLateReader(reply: FastifyReply, options: ReaderPaceOptions): void {
  const { raw } = reply
  setImmediate(() => {
    if (!raw.writableFinished && !raw.destroyed) watchReader(reply, options)
  })
}

/**
 * Ends the connection of a client that stops taking the answer's content, or takes less than 1 KiB/s of it, so that it
 * can't hold for ever what the content is read from.
 */
export function watchReader(reply: FastifyReply, { idleTimeoutMs }: ReaderPaceOptions): void {
  const { raw } = reply
  const { socket } = raw
  if (socket === null) return
  const pace = watchPace({
    idleTimeoutMs: idleTimeoutMs * PATIENCE,
    // What waits in this process has not been taken yet.
    total: () => socket.bytesWritten - socket.writableLength,
    isWaiting: () => socket.writableLength > 0,
    onTooSlow: () => {
      reply.request.reason = 'the content was taken too slowly'
      reply.request.brokenBy = 'timeout'
      raw.destroy()
    },
  })
  raw.once('close', () => pace.stop())
}
