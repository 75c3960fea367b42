import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { onAbort } from '../../core/async/on-abort.ts'
import { AppError, isAppError, formatError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { GatheredChunks } from './gathered-chunks.ts'
import { type MinRate, watchMinRate } from './min-rate.ts'

/** Validates a body as it passes and throws at the first wrong byte. Small chunks arrive joined. */
export interface BodyCheck {
  write(chunk: Buffer, outlet: ContentOutlet): void
  end(): void
}

export interface ContentOutlet {
  push(bytes: Buffer): void
  /** Ends the content; later bytes are only checked. */
  end(): void
}

/** Accepts at most `maxBytes` bytes, else throws `format_error`. */
export function atMost(maxBytes: number): BodyCheck {
  let bytes = 0
  return {
    write(chunk, outlet) {
      bytes += chunk.length
      if (bytes > maxBytes) throw bodyTooLarge(maxBytes)
      outlet.push(chunk)
    },
    end: ignore,
  }
}

export function bodyTooLarge(maxBytes: number): AppError {
  return formatError(`The body is larger than ${maxBytes / 1024} KiB.`)
}

export interface ReadOptions {
  /** Stops the body, which fails with the reason if that is an `AppError`, else with `unavailable`. */
  readonly signal: AbortSignal
  /** If the body fails, its stream ends after the bytes that have arrived, and only `end` rejects. */
  readonly keepsReceived?: boolean | undefined
}

export interface RequestBodyOptions extends ReadOptions {
  readonly request: Pick<FastifyRequest, 'raw' | 'reads'>
  readonly check: BodyCheck
  /** How long the client may be silent, and the window over which it must average 1 KiB/s. */
  readonly idleTimeoutMs: number
}

/** An incoming file, as `core` takes it. The caller that opened it must dispose of it. */
export interface RequestFile extends IncomingFile, Disposable {
  /** Stops reading and leaves the request paused, ready to be drained. Does nothing after `end`. */
  [Symbol.dispose](): void
}

/**
 * A request's body, of which `check` sees every byte first. It always settles: with `truncated_body` (the client left),
 * `request_timeout`, the signal's reason, or the error of `check`. The request is then paused and without our
 * listeners, so it can be drained and a refusal sent. Destroying the stream abandons the body, not the connection.
 */
export class RequestBody {
  /** The content that `check` passes on. Unless read to its end, it fails with an `AppError` if the body does. */
  readonly stream: Readable
  /** Resolves when the whole body has arrived and is valid, else rejects with an `AppError`. Needs no handler. */
  readonly ended: Promise<void>
  readonly #raw: FastifyRequest['raw']
  readonly #reads: FastifyRequest['reads']
  readonly #check: BodyCheck
  readonly #pace: MinRate
  readonly #abort: Disposable
  readonly #settle: PromiseWithResolvers<void>
  readonly #keepsReceived: boolean
  readonly #chunks: GatheredChunks
  #received = 0
  #settled = false

  constructor(options: RequestBodyOptions) {
    const { request, check, signal, idleTimeoutMs, keepsReceived = false } = options
    const { raw, reads } = request
    this.#keepsReceived = keepsReceived
    this.#raw = raw
    this.#reads = reads
    this.#check = check
    this.#chunks = new GatheredChunks(this.#write)
    this.#settle = Promise.withResolvers<void>()
    this.ended = this.#settle.promise
    this.ended.catch(ignore)
    this.stream = new Readable({
      read: this.#resume,
      destroy: (error, done) => {
        if (!this.stream.readableEnded) this.#stop()
        done(error)
      },
      highWaterMark: HELD_BYTES + (reads === undefined ? 0 : READ_AHEAD_BYTES),
    }).on('error', ignore)
    this.#pace = watchMinRate({
      idleTimeoutMs,
      total: () => this.#received,
      isWaiting: () => !raw.isPaused() && reads?.isPaused() !== true,
      onTooSlow: () =>
        this.fail(
          new AppError('request_timeout', 'The body stopped arriving, or arrived too slowly.'),
        ),
    })
    this.#abort = onAbort(signal, () => this.fail(stoppedBy(signal)))
    raw.on('data', this.#onData).on('end', this.#onEnd)
    raw.on('error', this.#onGone).on('close', this.#onGone)
    if (raw.destroyed) this.#onGone()
    else this.#resume()
  }

  toFile(size: IncomingFile['size']): RequestFile {
    return {
      content: this.stream,
      size,
      end: () => {
        if (!this.stream.readableEnded) this.#stop()
        return this.ended
      },
      [Symbol.dispose]: this.#stop,
    }
  }

  fail(error: AppError): void {
    if (this.#keepsReceived) this.#chunks.flush()
    if (!this.#detach()) return
    this.#reads?.pause()
    this.#raw.pause()
    if (this.#keepsReceived) this.stream.push(null)
    else this.stream.destroy(error)
    this.#settle.reject(error)
  }

  readonly #stop = (): void => {
    // Capturing an error's stack is expensive.
    if (this.#settled) return
    this.fail(new AppError('truncated_body', 'The body was not read to its end.'))
  }

  readonly #outlet: ContentOutlet = {
    push: (bytes) => {
      if (this.stream.push(bytes)) return
      // A paused request still fills its buffer with small chunks, so its connection is paused instead.
      this.#reads?.pause()
      if (this.#reads === undefined || this.#raw.readableLength > 0) this.#raw.pause()
    },
    end: () => {
      this.stream.push(null)
      // The reader stops reading here, but the request must still reach its end.
      this.#resume()
    },
  }

  readonly #resume = (): void => {
    if (this.#settled) return
    this.#reads?.resume()
    this.#raw.resume()
  }

  // Bound to the request's async context (its trace): chunks arrive in the connection's.
  readonly #onData = AsyncLocalStorage.bind((chunk: Buffer): void => {
    this.#received += chunk.length
    this.#reads?.count(chunk)
    this.#chunks.add(chunk)
  })

  readonly #write = (chunk: Buffer): void => {
    try {
      this.#check.write(chunk, this.#outlet)
    } catch (error) {
      this.fail(faultOf(error))
    }
  }

  readonly #onEnd = AsyncLocalStorage.bind((): void => {
    this.#chunks.flush()
    if (this.#settled) return
    try {
      this.#check.end()
    } catch (error) {
      return this.fail(faultOf(error))
    }
    this.#detach()
    this.stream.push(null)
    this.#settle.resolve()
  })

  readonly #onGone = (cause?: Error): void => {
    this.fail(
      new AppError('truncated_body', 'The connection closed before the body was complete.', {
        cause,
      }),
    )
  }

  #detach(): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.#chunks.close()
    this.#pace.stop()
    this.#abort[Symbol.dispose]()
    this.#raw.off('data', this.#onData).off('end', this.#onEnd)
    this.#raw.off('error', this.#onGone).off('close', this.#onGone)
    return true
  }
}

const HELD_BYTES = 16 * 1024

/** What still arrives of a chunked body after its connection has been paused. */
const READ_AHEAD_BYTES = 64 * 1024

function faultOf(error: unknown): AppError {
  return isAppError(error) ? error : formatError('The body is malformed.', error)
}

function ignore(): void {}

function stoppedBy({ reason }: AbortSignal): AppError {
  return isAppError(reason)
    ? reason
    : new AppError('unavailable', 'The service aborted the request.', { cause: reason })
}
