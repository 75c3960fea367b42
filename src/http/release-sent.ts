import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { EvenShare } from '../core/even-share.ts'

export interface ReleaseSentOptions {
  /** Where `body` will be piped to. */
  readonly answer: ServerResponse
  /** As `OpenedObject` has it. */
  readonly release: (chunk: Uint8Array) => void
  /** What of the body may wait in this process, at least as much as a socket's `highWaterMark`. */
  readonly waiting: EvenShare
}

/**
 * Replaces `body.pipe`, by which Fastify sends a stream: each chunk is released in the callback of its own write, when the
 * kernel has taken it. What comes in one turn of the event loop is one system call.
 */
export function releaseSent(body: Readable, options: ReleaseSentOptions): Readable {
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
  function send(chunk: Uint8Array): void {
    cork()
    const mayGoOn = answer.write(chunk, (error) => {
      // After a write that failed it is left to the collector.
      if (!error) release(chunk)
    })
    // Only a write that said stop is followed by `drain`.
    if (!mayGoOn && answer.writableLength >= waiting.bytes) body.pause()
  }
  function pipe<T>(destination: T): T {
    if (!body.closed) {
      waiting.join()
      body.once('close', () => waiting.leave())
    }
    body.on('data', send).once('end', () => answer.end())
    answer.on('drain', () => body.resume())
    return destination
  }
  return Object.assign(body, { pipe })
}
