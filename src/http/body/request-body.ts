import { AsyncLocalStorage } from 'node:async_hooks'
import { addAbortListener } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../core/errors.ts'
import type { Intake } from './chunk-throttle.ts'
import { GatheredChunks } from './gathered-chunks.ts'
import { type MinRate, watchMinRate } from './min-rate.ts'

/** Judges the bytes of a body as they pass, and throws at the first that is wrong. Small chunks come joined. */
export interface BodyCheck {
  /** What it finds well and its reader is to have it hands on. */
  write(chunk: Buffer, content: ContentOutlet): void
  end(): void
}

export interface ContentOutlet {
  push(bytes: Buffer): void
  /** There is no more to read; what comes from now on is for the check alone. */
  end(): void
}

export interface RequestBodyOptions {
  readonly request: Pick<FastifyRequest, 'raw' | 'intake'>
  readonly check: BodyCheck
  readonly signal: AbortSignal
  readonly idleTimeoutMs: number
}

/**
 * The body of a request, of which nobody sees a byte before `check` has. It reads only as fast as its own reader.
 *
 * It always settles: with `truncated_body` when the client goes away, `request_timeout` when it stalls or
 * dawdles, the reason of the signal, or what `check` threw. Then it lets go of the request, which is left
 * paused, undamaged and without listeners of ours, so that the rest can be drained and the refusal be sent.
 */
export class RequestBody {
  /** What the check hands on, all of the body if nothing else. Fails with an `AppError`, while the body comes and is not wholly read. */
  readonly stream: Readable
  /** Resolves when the whole body has come and is well, rejects with an `AppError` otherwise. Needs no handler. */
  readonly ended: Promise<void>
  readonly #raw: FastifyRequest['raw']
  readonly #intake: Intake
  readonly #check: BodyCheck
  readonly #pace: MinRate
  readonly #abort: Disposable
  readonly #settle: { resolve(): void; reject(error: AppError): void }
  readonly #chunks: GatheredChunks
  #received = 0
  #settled = false

  constructor({ request, check, signal, idleTimeoutMs }: RequestBodyOptions) {
    const { raw, intake } = request
    this.#raw = raw
    this.#intake = intake
    this.#check = check
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    promise.catch(ignore)
    this.ended = promise
    this.#settle = { resolve, reject }
    const highWaterMark = HELD_BYTES + intake.readAheadBytes
    this.stream = new Readable({ read: this.#onRead, highWaterMark }).on('error', ignore)
    this.#chunks = new GatheredChunks((chunk) =>
      this.#attempt(() => check.write(chunk, this.#outlet)),
    )
    this.#pace = watchMinRate({
      idleTimeoutMs,
      total: () => this.#received,
      isWaiting: () => !raw.isPaused() && !intake.isPaused(),
      onTooSlow: () => this.fail(tooSlow()),
    })
    this.#abort = addAbortListener(signal, () => this.fail(stoppedBy(signal)))
    raw.on('data', this.#onData).on('end', this.#onEnd)
    raw.on('error', this.#onGone).on('close', this.#onGone)
    intake.resume()
    if (raw.destroyed) this.#onGone()
  }

  get isOver(): boolean {
    return this.#settled
  }

  /** Stops reading and fails the stream with `error`, unless all is over. */
  fail(error: AppError): void {
    if (!this.#detach()) return
    this.#intake.pause()
    this.#raw.pause()
    this.stream.destroy(error)
    this.#settle.reject(error)
  }

  readonly #outlet: ContentOutlet = {
    push: (bytes) => {
      if (!this.stream.push(bytes)) this.#pause()
    },
    end: () => {
      this.stream.push(null)
      // A reader that has all it needs reads no more: what it doesn't take must not hold up the request.
      this.#onRead()
    },
  }

  readonly #onRead = (): void => {
    if (this.#settled) return
    this.#intake.resume()
    this.#raw.resume()
  }

  /** A paused request goes on to fill its own buffer, with as many small chunks as fit, so its connection is paused instead. */
  #pause(): void {
    this.#intake.pause()
    if (this.#raw.readableLength > 0) this.#raw.pause()
  }

  // Bound, since the bytes come by way of the connection, but what comes of them is of the request, and of its trace.
  readonly #onData = AsyncLocalStorage.bind((chunk: Buffer): void => {
    this.#received += chunk.length
    this.#intake.count(chunk)
    this.#chunks.add(chunk)
  })

  readonly #onEnd = AsyncLocalStorage.bind((): void => {
    this.#chunks.flush()
    if (this.#settled) return
    this.#attempt(() => {
      this.#check.end()
      this.#detach()
      this.stream.push(null)
      this.#settle.resolve()
    })
  })

  readonly #onGone = (cause?: Error): void => {
    this.fail(
      new AppError('truncated_body', 'The connection closed before the body ended.', { cause }),
    )
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fail(isAppError(error) ? error : malformed(error))
    }
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

/** Enough to keep the parser busy; what it holds itself comes on top. */
const HELD_BYTES = 16 * 1024

/** Describes what a parser threw or rejected with. */
export function malformed(cause: unknown): AppError {
  return new AppError('format_error', 'The form is malformed.', { cause })
}

function ignore(): void {}

function tooSlow(): AppError {
  return new AppError('request_timeout', 'The body stopped coming, or came too slowly.')
}

function stoppedBy({ reason }: AbortSignal): AppError {
  return isAppError(reason)
    ? reason
    : new AppError('unavailable', 'The request was stopped.', { cause: reason })
}
