import { AsyncLocalStorage } from 'node:async_hooks'
import { addAbortListener } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { GatheredChunks } from './gathered-chunks.ts'
import { type MinRate, watchMinRate } from './min-rate.ts'

/** Judges the bytes of a body as they pass, and throws at the first that is wrong. Small chunks come joined. */
export interface BodyCheck {
  /** What it finds well and its reader is to have it hands on. */
  write(chunk: Buffer, outlet: ContentOutlet): void
  end(): void
}

export interface ContentOutlet {
  push(bytes: Buffer): void
  /** There is no more to read; what comes from now on is for the check alone. */
  end(): void
}

/** Refuses a body of more than `maxBytes` bytes with `format_error`, and takes any other. */
export function atMost(maxBytes: number): BodyCheck {
  let bytes = 0
  return {
    write(chunk, outlet) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new AppError('format_error', 'The body is too large.')
      outlet.push(chunk)
    },
    end: ignore,
  }
}

export interface ReadOptions {
  /** Stops the body; an `AppError` as its reason is what the body fails with. */
  readonly signal: AbortSignal
  /** How long the client may be silent, and the time over which it must send 1 KiB/s on average; in milliseconds. */
  readonly idleTimeoutMs: number
}

export interface RequestBodyOptions extends ReadOptions {
  readonly request: Pick<FastifyRequest, 'raw' | 'intake'>
  readonly check: BodyCheck
}

/** A file on its way in, as `core` takes it. Whoever opened it disposes of it, whatever happens. */
export interface RequestFile extends IncomingFile, Disposable {
  /** Stops reading. The request is left paused and can be drained. No harm after `end`. */
  [Symbol.dispose](): void
}

/**
 * The body of a request, of which nobody sees a byte before `check` has. It reads only as fast as its own reader.
 *
 * It always settles: with `truncated_body` when the client goes away, `request_timeout` when it stalls or
 * dawdles, the reason of the signal, or what `check` threw. Then it lets go of the request, which is left
 * paused, undamaged and without listeners of ours, so that the rest can be drained and the refusal be sent. A reader that
 * destroys the stream gives up the body, and leaves the connection alone.
 */
export class RequestBody {
  /** What the check hands on, all of the body if nothing else. Fails with an `AppError`, while the body comes and is not wholly read. */
  readonly stream: Readable
  /** Resolves when the whole body has come and is well, rejects with an `AppError` otherwise. Needs no handler. */
  readonly ended: Promise<void>
  readonly #raw: FastifyRequest['raw']
  readonly #intake: FastifyRequest['intake']
  readonly #check: BodyCheck
  readonly #pace: MinRate
  readonly #abort: Disposable
  readonly #settle: PromiseWithResolvers<void>
  readonly #chunks: GatheredChunks
  #received = 0
  #settled = false

  constructor({ request, check, signal, idleTimeoutMs }: RequestBodyOptions) {
    const { raw, intake } = request
    this.#raw = raw
    this.#intake = intake
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
      highWaterMark: HELD_BYTES + (intake?.readAheadBytes ?? 0),
    }).on('error', ignore)
    this.#pace = watchMinRate({
      idleTimeoutMs,
      total: () => this.#received,
      isWaiting: () => !raw.isPaused() && intake?.isPaused() !== true,
      onTooSlow: () =>
        this.fail(new AppError('request_timeout', 'The body stopped coming, or came too slowly.')),
    })
    this.#abort = addAbortListener(signal, () => this.fail(stoppedBy(signal)))
    raw.on('data', this.#onData).on('end', this.#onEnd)
    raw.on('error', this.#onGone).on('close', this.#onGone)
    if (raw.destroyed) this.#onGone()
    else this.#resume()
  }

  /** The stream as a file of that size. */
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

  /** Stops reading and fails the stream with `error`, unless all is over. */
  fail(error: AppError): void {
    if (!this.#detach()) return
    this.#intake?.pause()
    this.#raw.pause()
    this.stream.destroy(error)
    this.#settle.reject(error)
  }

  readonly #stop = (): void => {
    // An error is made of a stack, which is not for nothing.
    if (this.#settled) return
    this.fail(new AppError('truncated_body', 'The body was not read to its end.'))
  }

  readonly #outlet: ContentOutlet = {
    push: (bytes) => {
      if (this.stream.push(bytes)) return
      // A paused request goes on to fill its own buffer, with as many small chunks as fit, so its connection is paused instead.
      this.#intake?.pause()
      if (this.#intake === undefined || this.#raw.readableLength > 0) this.#raw.pause()
    },
    end: () => {
      this.stream.push(null)
      // A reader that has all it needs reads no more: what it doesn't take must not hold up the request.
      this.#resume()
    },
  }

  readonly #resume = (): void => {
    if (this.#settled) return
    this.#intake?.resume()
    this.#raw.resume()
  }

  // Bound, since the bytes come by way of the connection, but what comes of them is of the request, and of its trace.
  readonly #onData = AsyncLocalStorage.bind((chunk: Buffer): void => {
    this.#received += chunk.length
    this.#intake?.count(chunk)
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
      new AppError('truncated_body', 'The connection closed before the body ended.', { cause }),
    )
  }

  /** Says whether this was the moment of it. */
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

/** Enough to keep the reader busy. */
const HELD_BYTES = 16 * 1024

/** Describes what a check threw. */
function faultOf(error: unknown): AppError {
  return isAppError(error)
    ? error
    : new AppError('format_error', 'The body is malformed.', { cause: error })
}

function ignore(): void {}

function stoppedBy({ reason }: AbortSignal): AppError {
  return isAppError(reason)
    ? reason
    : new AppError('unavailable', 'The request was stopped.', { cause: reason })
}
