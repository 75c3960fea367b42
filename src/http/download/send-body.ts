import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { FairShare, Share } from '../../core/async/fair-share.ts'
import { isAppError } from '../../core/errors.ts'
import type { OpenedObject } from '../../core/objects/object-store.ts'
import { watchMinRate } from '../body/min-rate.ts'
import { abortedBy } from '../server/problem.ts'

export interface SendBodyOptions extends Pick<OpenedObject, 'release'> {
  readonly body: Readable
  /** What of all bodies may wait in this process to be sent. */
  readonly waiting: FairShare
  /** Aborts when the client has gone, or the grace period of a shutdown is over. */
  readonly signal: AbortSignal
  /** When it has aborted the connection closes after this answer. */
  readonly stopping: AbortSignal
}

/**
 * Sends `body` as the content of the answer that `reply` describes, and resolves when all of it has been read, or the
 * connection is gone. The head goes out with the first chunk, and until then a failing body rejects, to be answered as any
 * other error. Later it destroys the connection, so that no client takes a part for the whole.
 */
export async function sendBody(reply: FastifyReply, options: SendBodyOptions): Promise<void> {
  const { raw, request } = reply
  const { body, waiting, signal } = options
  const share = waiting.join()
  writeBatches(reply, { ...options, share })
  try {
    await finished(body, { writable: false, signal })
  } catch (error) {
    if (isAppError(error)) request.brokenBy ??= abortedBy(error)
    if (!reply.sent && !raw.destroyed) throw error
    if (!signal.aborted && !raw.destroyed) request.log.error({ err: error }, 'download failed')
    raw.destroy()
  } finally {
    body.destroy()
    share.leave()
  }
}

/**
 * The most that is written at once. How far a write under way has come cannot be asked, so this is what `takenBytes` is
 * behind by: a reader of 1.5 KiB/s is still seen to take something within three minutes.
 */
const MAX_WRITE_BYTES = 256 * 1024

/**
 * Writes what `body` brings, one batch after the other. What comes in one turn of the event loop, or while a batch is under
 * way, is one system call. Each chunk is released in the callback of its write, when the kernel has taken it.
 */
function writeBatches(
  reply: FastifyReply,
  { body, release, share, stopping }: SendBodyOptions & { readonly share: Share },
): void {
  const { raw } = reply
  const queue: Uint8Array[] = []
  let waitingBytes = 0
  let writes = 0
  let isEnded = false
  let pausedAt: number | undefined

  function writeBatch(): void {
    const hasWork = queue.length > 0 || (isEnded && !raw.writableEnded)
    if (!hasWork || writes > 0 || raw.destroyed) return
    if (!reply.sent) beginAnswer(reply, stopping)
    let room = Math.min(MAX_WRITE_BYTES, share.bytes)
    raw.cork()
    for (let [chunk] = queue; chunk !== undefined; [chunk] = queue) {
      const { byteLength } = chunk
      if (writes > 0 && byteLength > room) break
      room -= byteLength
      writes += 1
      raw.write(queue.shift(), written.bind(undefined, chunk))
    }
    if (isEnded && queue.length === 0) raw.end()
    else raw.uncork()
  }
  function written(chunk: Uint8Array, error?: Error | null): void {
    // After a write that failed it is left to the collector.
    if (error) return
    writes -= 1
    waitingBytes -= chunk.byteLength
    release?.(chunk)
    if (pausedAt !== undefined && waitingBytes < share.bytes) {
      share.adapt(performance.now() - pausedAt)
      pausedAt = undefined
      body.resume()
    }
    writeBatch()
  }
  body.on('data', (chunk: Uint8Array) => {
    if (queue.push(chunk) === 1 && writes === 0) setImmediate(writeBatch)
    waitingBytes += chunk.byteLength
    if (pausedAt !== undefined || waitingBytes < share.bytes) return
    pausedAt = performance.now()
    body.pause()
  })
  body.once('end', () => {
    isEnded = true
    writeBatch()
  })
  // What came before is sent all the same.
  body.once('error', writeBatch)
}

/** Sends the head past Fastify, whose `onSend` hooks would have said when the connection closes. */
function beginAnswer(reply: FastifyReply, stopping: AbortSignal): void {
  const { raw, request } = reply
  reply.hijack()
  // What is left of a request's own content would be taken for the next request.
  if (stopping.aborted || !request.raw.complete) void reply.header('connection', 'close')
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
}

export interface SlowReaderOptions {
  /** How long the sender of a body may be silent, in milliseconds; a reader may be so for three times as long. */
  readonly idleTimeoutMs: number
}

/** What a reader takes is seen only when a good part of the kernel's buffer has become free, which can be megabytes. */
const PATIENCE = 3

/**
 * Ends the connection of a client that stops taking the answer's content, or takes less than 1 KiB/s of it, so that it
 * can't hold for ever what the content is read from.
 */
export function watchSlowReader(reply: FastifyReply, { idleTimeoutMs }: SlowReaderOptions): void {
  if (reply.raw.destroyed) return
  const { socket } = reply.request.raw
  const pace = watchMinRate({
    idleTimeoutMs: idleTimeoutMs * PATIENCE,
    total: takenBytes.bind(undefined, socket),
    isWaiting: () => socket.writableLength > 0,
    onTooSlow: () => breakOff(reply, 'the content was taken too slowly'),
  })
  reply.raw.once('close', pace.stop)
}

/** Ends a download, which can be resumed with a range, for want of a quicker reader. */
export function breakOff({ raw, request }: FastifyReply, reason: string): void {
  request.reason = reason
  request.brokenBy = 'timeout'
  raw.destroy()
}

/** Bytes that the kernel has taken; those of a write that is under way count when all of it has gone. */
export function takenBytes(socket: Pick<Socket, 'bytesWritten' | 'writableLength'>): number {
  return socket.bytesWritten - socket.writableLength
}
