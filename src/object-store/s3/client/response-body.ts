import { addAbortSignal, Readable } from 'node:stream'
import { Deadline, timeoutError } from '../../../core/async/deadline.ts'
import { storeError } from '../../store-error.ts'

export interface S3BodyOptions {
  /** Bytes that have to come. */
  readonly length: number
  /** How long the store may be silent while a reader wants bytes, in milliseconds. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

/**
 * The content of an answer: exactly `length` bytes, or a failure with `storeError`. It is read only while a reader wants
 * bytes, and a slow reader may take its time. Ends with `content` and destroys it otherwise.
 */
export function createS3Body(content: Readable, options: S3BodyOptions): Readable {
  const { length, idleMs, signal } = options
  let missing = length
  let isWanted = false
  const silence = new Deadline(idleMs, () => isWanted && fail(timeoutError(idleMs)))
  const body = new Readable({
    // Paused, it reads nothing ahead.
    highWaterMark: 0,
    read: () => {
      isWanted = true
      silence.refresh()
      content.resume()
    },
    destroy: (error, done) => {
      silence.clear()
      content.destroy()
      done(error)
    },
  })

  function fail(cause: Error): void {
    body.destroy(storeError(cause))
  }
  function take(chunk: Uint8Array): void {
    missing -= chunk.byteLength
    if (missing < 0) return fail(missed())
    silence.refresh()
    isWanted = body.push(chunk) && !body.isPaused()
    if (!isWanted) content.pause()
  }
  const missed = (): Error => new Error(`The content misses its length by ${missing} bytes`)

  content.on('data', take).pause()
  content.once('end', () => (missing === 0 ? body.push(null) : fail(missed())))
  content.once('error', fail)
  content.once('close', () => {
    if (!content.readableEnded) fail(new Error('The answer broke off'))
  })
  // It can fail before whoever asked for it listens.
  return addAbortSignal(signal, body).on('error', () => undefined)
}
