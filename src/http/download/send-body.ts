import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { FairShare, Share } from '../../core/async/fair-share.ts'
import { isAppError } from '../../core/errors.ts'
import type { OpenedObject } from '../../core/objects/object-store.ts'
import { watchMinRate } from '../body/min-rate.ts'
import { abortedBy } from '../server/problem.ts'
import { takenBytes } from '../server/reader-slots.ts'
import { breakOff } from '../server/request-outcome.ts'

export interface SendBodyOptions {
  readonly body: Readable
  readonly release: OpenedObject['release']
  readonly waiting: FairShare
  /** Aborts when the client disconnects or the shutdown grace period ends. */
  readonly signal: AbortSignal
  /** Called with the number of bytes that were given to the connection, if not all were. */
  readonly onCut?: ((sent: number) => Promise<void>) | undefined
}

/**
 * Sends `body` as the content of `reply`; resolves when it has been read or the connection is gone. A failure before
 * the first chunk rejects; a later one destroys the connection, so that no client takes a part for the whole.
 */
export async function sendBody(reply: FastifyReply, options: SendBodyOptions): Promise<void> {
  const { raw, request } = reply
  const { body, waiting, signal, onCut } = options
  const share = waiting.join()
  const sentBytes = writeBatches(reply, options, share)
  try {
    await finished(body, { writable: false, signal })
  } catch (error) {
    if (isAppError(error)) request.abortedBy ??= abortedBy(error)
    const isUnanswered = !reply.sent && !raw.destroyed
    if (!isUnanswered) {
      if (!signal.aborted && !raw.destroyed) request.log.error({ err: error }, 'download failed')
      raw.destroy()
    }
    await tellCut(reply, { onCut, sent: sentBytes() })
    if (isUnanswered) throw error
  } finally {
    body.destroy()
    share.leave()
  }
}

/** `takenBytes` lags by up to one write: a reader at 1.5 KiB/s still shows progress within three minutes. */
const MAX_WRITE_BYTES = 256 * 1024

/** Chunks of one event-loop iteration or one write take one system call. A chunk is released once written. */
function writeBatches(
  reply: FastifyReply,
  { body, release }: SendBodyOptions,
  share: Share,
): () => number {
  const { raw } = reply
  const queue: Uint8Array[] = []
  let sentBytes = 0
  let waitingBytes = 0
  let writes = 0
  let isEnded = false
  let pausedAt: number | undefined

  function writeBatch(): void {
    const hasWork = queue.length > 0 || (isEnded && !raw.writableEnded)
    if (!hasWork || writes > 0 || raw.destroyed) return
    if (!reply.sent) beginAnswer(reply)
    let room = Math.min(MAX_WRITE_BYTES, share.bytes)
    raw.cork()
    for (let [chunk] = queue; chunk !== undefined; [chunk] = queue) {
      const { byteLength } = chunk
      if (writes > 0 && byteLength > room) break
      room -= byteLength
      writes += 1
      sentBytes += byteLength
      raw.write(queue.shift(), written.bind(undefined, chunk))
    }
    if (isEnded && queue.length === 0) raw.end()
    else raw.uncork()
  }
  function written(chunk: Uint8Array, error?: Error | null): void {
    // The chunk of a failed write is left to the garbage collector.
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
  // Sends the chunks that came before the error.
  body.once('error', writeBatch)
  return () => sentBytes
}

/** A failure leaves the download counted as if it was whole. */
async function tellCut(
  { request }: FastifyReply,
  { onCut, sent }: { readonly sent: number } & Pick<SendBodyOptions, 'onCut'>,
): Promise<void> {
  try {
    await onCut?.(sent)
  } catch (err) {
    request.log.warn({ err }, 'counting a download that was cut failed')
  }
}

/** Bypasses Fastify, and so repeats what its skipped `onSend` hooks say about `Connection: close`. */
function beginAnswer(reply: FastifyReply): void {
  const { raw, request, server } = reply
  reply.hijack()
  // The rest of this request's body would be taken for the next request.
  if (server.signals.stopping.aborted || !request.raw.complete)
    void reply.header('connection', 'close')
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
}

/** Progress only shows after the client has drained much of the kernel's send buffer, up to megabytes. */
const SLOW_READER_FACTOR = 3

/** Ends the connection of a client that reads less than 1 KiB/s, so that it can't hold the source forever. */
export function watchSlowReader(reply: FastifyReply): void {
  if (reply.raw.destroyed) return
  const { socket } = reply.request.raw
  const pace = watchMinRate({
    idleTimeoutMs: reply.server.idleTimeoutMs * SLOW_READER_FACTOR,
    total: takenBytes.bind(undefined, socket),
    isWaiting: () => socket.writableLength > 0,
    onTooSlow: () => breakOff(reply, 'the content was taken too slowly'),
  })
  reply.raw.once('close', pace.stop)
}
