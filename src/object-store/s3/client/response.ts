import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { S3Headers, S3Response } from './transport.ts'

/** A content up to here is answered when it has come whole: no stream is worth its price for that. */
const MAX_HELD_BYTES = 64 * 1024

type Controller = Dispatcher.DispatchController

export interface S3ResponseOptions {
  /** That of the request: an answer to HEAD has no content, whatever length it states. */
  readonly method: string
  readonly signal: AbortSignal
  /** Called when the signal aborts. */
  readonly onAbort: () => void
}

/**
 * Takes one answer from undici. `answer` resolves with the head of it, and with all of a small content; the rest of a
 * large one comes as it is read. Until its end `signal` ends the request, also one that still waits for a connection.
 */
export class S3ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #options: S3ResponseOptions
  readonly #abort = (): void => this.#giveUp()
  readonly #answer = Promise.withResolvers<S3Response>()
  #controller: Controller | undefined
  #head: Pick<S3Response, 'statusCode' | 'headers'> | undefined
  /** Of a small content, or else there is a body. */
  #held: Uint8Array[] = []
  #body: Readable | undefined
  #isOver = false

  constructor(options: S3ResponseOptions) {
    this.#options = options
    options.signal.addEventListener('abort', this.#abort)
    if (options.signal.aborted) this.#giveUp()
  }

  get answer(): Promise<S3Response> {
    return this.#answer.promise
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#options.signal.aborted) this.#giveUp()
  }

  onResponseStart(controller: Controller, statusCode: number, headers: object): void {
    if (statusCode < 200) return
    // Only `Set-Cookie` is ever a list.
    this.#head = { statusCode, headers: headers as S3Headers }
    if (this.#isSmall(this.#head.headers)) return
    this.#body = this.#stream(controller)
    this.#answer.resolve({ ...this.#head, body: this.#body })
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#body === undefined) this.#held.push(chunk)
    else if (!this.#body.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#end()
    if (this.#body !== undefined) this.#body.push(null)
    else if (this.#head !== undefined)
      this.#answer.resolve({ ...this.#head, content: joined(this.#held) })
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end()
    this.#answer.reject(error)
    this.#body?.destroy(error)
  }

  #isSmall({ 'content-length': length }: S3Headers): boolean {
    return this.#options.method === 'HEAD' || Number(length ?? Infinity) <= MAX_HELD_BYTES
  }

  #stream(controller: Controller): Readable {
    const body = new Readable({
      // Paused, it reads nothing ahead.
      highWaterMark: 0,
      read: () => controller.resume(),
      destroy: (error, done) => {
        if (!this.#isOver)
          controller.abort(error ?? new Error('The answer was not read to its end'))
        this.#end()
        done(error)
      },
    })
    // It can fail before whoever asked for it listens.
    return body.on('error', () => undefined)
  }

  #giveUp(): void {
    const { signal, onAbort } = this.#options
    const reason: unknown = signal.reason
    onAbort()
    this.#answer.reject(reason)
    this.#controller?.abort(reason instanceof Error ? reason : new Error('It was given up'))
  }

  #end(): void {
    this.#isOver = true
    this.#options.signal.removeEventListener('abort', this.#abort)
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = chunks
  return first !== undefined && others.length === 0 ? first : Buffer.concat(chunks)
}
