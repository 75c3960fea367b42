import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { watchMinRate } from '../body/min-rate.ts'

export interface SlowReaderOptions {
  /** How long the sender of a body may be silent, in milliseconds; a reader may be so for three times as long. */
  readonly idleTimeoutMs: number
}

/** What a reader takes is seen only when a good part of the kernel's buffer has become free, which can be megabytes. */
const PATIENCE = 3

/** As `watchSlowReader`, for an answer that the kernel mostly takes at once. */
export function watchLateReader(reply: FastifyReply, options: SlowReaderOptions): void {
  const { raw } = reply
  setImmediate(() => {
    if (!raw.writableFinished && !raw.destroyed) watchSlowReader(reply, options)
  })
}

/**
 * Ends the connection of a client that stops taking the answer's content, or takes less than 1 KiB/s of it, so that it
 * can't hold for ever what the content is read from.
 */
export function watchSlowReader(reply: FastifyReply, { idleTimeoutMs }: SlowReaderOptions): void {
  const { raw } = reply
  const { socket } = raw
  if (socket === null) return
  const pace = watchMinRate({
    idleTimeoutMs: idleTimeoutMs * PATIENCE,
    total: () => takenBytes(socket),
    isWaiting: () => socket.writableLength > 0,
    onTooSlow: () => {
      reply.request.reason = 'the content was taken too slowly'
      reply.request.brokenBy = 'timeout'
      raw.destroy()
    },
  })
  raw.once('close', () => pace.stop())
}

/** Of a socket: Node has no public way to ask how far a write under way has come, and looks there for its own timeouts. */
interface Handle {
  readonly bytesWritten?: number
  /** Bytes that were handed over and that the kernel has not taken yet. */
  readonly writeQueueSize?: number
}

/**
 * Bytes that the kernel has taken. Those of a write that is under way count as they go: a slow reader needs minutes for
 * half a megabyte, which the socket's own figures see as nothing until all of it has gone.
 */
export function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: Handle | null }
  const { bytesWritten, writeQueueSize } = handle ?? {}
  if (bytesWritten !== undefined && writeQueueSize !== undefined)
    return bytesWritten - writeQueueSize
  return socket.bytesWritten - socket.writableLength
}
