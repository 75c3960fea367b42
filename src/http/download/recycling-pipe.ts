import type { Readable, Writable } from 'node:stream'
import type { FairShare } from '../../core/async/fair-share.ts'

export interface RecyclingPipeOptions {
  /** Where `body` will be piped to. */
  readonly answer: Writable
  /** As `OpenedObject` has it. */
  readonly release: (chunk: Uint8Array) => void
  /** What of the body may wait in this process. */
  readonly waiting: FairShare
}

/**
 * Replaces `body.pipe`, by which Fastify sends a stream: each chunk is released in the callback of its own write, when the
 * kernel has taken it. What comes in one turn of the event loop is one system call.
 */
export function pipeAndRecycle(body: Readable, options: RecyclingPipeOptions): Readable {
  const { answer, release, waiting } = options
  let isCorked = false

  function cork(): void {
    if (isCorked) return
    isCorked = true
    answer.cork()
    setImmediate(() => {
      isCorked = false
      // Its end has done that already, and one too many counts below zero.
      if (!answer.writableEnded) answer.uncork()
    })
  }
  function pipe<T>(destination: T): T {
    if (body.closed) return destination
    const share = waiting.join()
    let pausedAt: number | undefined

    function goOn(): void {
      if (pausedAt === undefined || answer.writableLength >= share.bytes) return
      share.adapt(performance.now() - pausedAt)
      pausedAt = undefined
      body.resume()
    }
    function send(chunk: Uint8Array): void {
      cork()
      answer.write(chunk, (error) => {
        // After a write that failed it is left to the collector.
        if (error) return
        release(chunk)
        goOn()
      })
      if (pausedAt !== undefined || answer.writableLength < share.bytes) return
      pausedAt = performance.now()
      body.pause()
    }
    body.on('data', send).once('end', () => answer.end())
    body.once('close', () => share.leave())
    return destination
  }
  return Object.assign(body, { pipe })
}
