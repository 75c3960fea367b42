import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { EvenShare } from '../core/even-share.ts'

const KIB = 1024

/** What waits in this process to be sent, of all contents together; the least is where the runtime begins to say stop. */
const waiting = new EvenShare({ total: 32 * KIB * KIB, least: 64 * KIB, most: 512 * KIB })

export interface ReleaseSentOptions {
  /** Where `content` will be piped to. */
  readonly answer: ServerResponse
  /** As `OpenedObject` has it. */
  readonly release: (chunk: Uint8Array) => void
}

/**
 * Has `content`, once it is piped, release each chunk as soon as the system has taken it, which only whoever writes it
 * knows. Chunks that come in one turn of the event loop go out by one system call.
 */
export function releaseSent(content: Readable, { answer, release }: ReleaseSentOptions): Readable {
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
      if (!error) release(chunk)
    })
    if (!mayGoOn && answer.writableLength >= waiting.bytes) content.pause()
  }
  function pipe<T>(destination: T): T {
    content.once('close', waiting.join())
    content.on('data', send).once('end', () => answer.end())
    answer.on('drain', () => content.resume())
    return destination
  }
  return Object.assign(content, { pipe })
}
