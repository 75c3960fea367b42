import { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { formatQuery } from './signer.ts'

export interface S3Request {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly method: string
  readonly path: string
  readonly query: Record<string, string>
  readonly headers: Record<string, string>
  readonly body?: readonly Uint8Array[] | undefined
}

/** Names in lower case. */
export type S3Headers = Readonly<Record<string, string | undefined>>

export interface S3Response {
  readonly statusCode: number
  readonly headers: S3Headers
  /** The whole content, or a stream that the caller reads to its end or destroys. */
  readonly body?: Readable | Uint8Array
}

export interface S3Transport {
  handle(
    request: S3Request,
    options?: { readonly abortSignal?: unknown },
  ): Promise<{ readonly response: S3Response }>
  destroy?(): void
}

export const TRANSPORT_DEFAULTS = { maxSockets: 200, connectionMs: 10_000 } as const

export interface S3TransportOptions {
  /** Per host; further requests wait for a free one. */
  readonly maxSockets?: number | undefined
  readonly keepAlive?: boolean | undefined
  readonly connectionMs?: number | undefined
  readonly requestHandler?: S3Transport | undefined
}

/** Limits only the time to connect: a limit on silence would cut off slow readers. Callers bound each request. */
export function createS3Transport(options: S3TransportOptions): S3Transport {
  return options.requestHandler ?? new UndiciTransport(options)
}

/** A single chunk up to this size is sent together with the headers. */
const MAX_CORKED_BYTES = 64 * 1024

class UndiciTransport implements S3Transport {
  readonly #options: S3TransportOptions
  readonly #pools = new Map<string, Pool>()

  constructor(options: S3TransportOptions) {
    this.#options = options
  }

  async handle(
    request: S3Request,
    { abortSignal }: { readonly abortSignal?: unknown } = {},
  ): Promise<{ readonly response: S3Response }> {
    const { protocol, hostname, port, method, path, headers } = request
    const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
    const query = formatQuery(request.query)
    const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal
    let chunks = request.body ?? []
    // While a request waits for a connection, undici holds its body and ignores aborts.
    const onAbort = (): void => void (chunks = [])
    const answering = new S3ResponseHandler({ method, signal, onAbort })
    const [first] = chunks
    const isCorked = chunks.length === 1 && first && first.byteLength <= MAX_CORKED_BYTES
    const inChunks: unknown = { [Symbol.iterator]: () => chunks.values() }
    const body = isCorked ? first : (inChunks as Readable)
    const sent = {
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      // undici accepts iterables, but its types do not say so.
      body: request.body === undefined ? null : body,
      // Explicit, because undici otherwise closes the connection after HEAD, in case the server sends a body.
      reset: this.#options.keepAlive === false,
    }
    const pool = this.#pools.get(origin) ?? this.#connect(origin)
    if (!signal.aborted) pool.dispatch(sent, answering)
    return { response: await answering.response }
  }

  destroy(): void {
    for (const pool of this.#pools.values()) void pool.destroy()
  }

  #connect(origin: string): Pool {
    const {
      maxSockets = TRANSPORT_DEFAULTS.maxSockets,
      connectionMs = TRANSPORT_DEFAULTS.connectionMs,
      keepAlive = true,
    } = this.#options
    const pool = new Pool(origin, {
      connections: maxSockets,
      pipelining: keepAlive ? 1 : 0,
      // One HTTP/2 connection would reach one node only, and a slow reader would slow the other requests.
      allowH2: false,
      connect: { timeout: connectionMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#pools.set(origin, pool)
    return pool
  }
}

/** Smaller content is buffered whole: a stream would cost more. */
const MAX_HELD_BYTES = 64 * 1024

interface Answering {
  /** An answer to HEAD has no content, regardless of its Content-Length. */
  readonly method: string
  readonly signal: AbortSignal
  readonly onAbort: () => void
}

type Controller = Dispatcher.DispatchController

/** Resolves `response` to the head with all of a small content, or a stream. `signal` ends the request at any stage. */
class S3ResponseHandler implements Dispatcher.DispatchHandler {
  readonly response: Promise<S3Response>
  readonly #answering: Answering
  readonly #answer = Promise.withResolvers<S3Response>()
  readonly #abort = (): void => this.#giveUp()
  #controller: Controller | undefined
  #head: Pick<S3Response, 'statusCode' | 'headers'> | undefined
  #held: Uint8Array[] = []
  #body: Readable | undefined
  #isOver = false

  constructor(answering: Answering) {
    this.#answering = answering
    this.response = this.#answer.promise
    answering.signal.addEventListener('abort', this.#abort)
    if (answering.signal.aborted) this.#giveUp()
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#answering.signal.aborted) this.#giveUp()
  }

  onResponseStart(controller: Controller, statusCode: number, stated: object): void {
    if (statusCode < 200) return
    // Only `Set-Cookie` is ever a list.
    const headers = stated as S3Headers
    this.#head = { statusCode, headers }
    const isSmall = Number(headers['content-length'] ?? Infinity) <= MAX_HELD_BYTES
    if (isSmall || this.#answering.method === 'HEAD') return
    const body = new Readable({
      // No read-ahead while paused.
      highWaterMark: 0,
      read: () => controller.resume(),
      destroy: (error, done) => {
        if (!this.#isOver)
          controller.abort(error ?? new Error('The answer was not read to its end'))
        this.#end()
        done(error)
      },
    })
    // The body can fail before the caller listens.
    this.#body = body.on('error', () => undefined)
    this.#answer.resolve({ statusCode, headers, body })
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#body === undefined) this.#held.push(chunk)
    else if (!this.#body.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#end()
    const [first, ...others] = this.#held
    const isOne = first !== undefined && others.length === 0
    if (this.#body !== undefined) this.#body.push(null)
    else if (this.#head !== undefined)
      this.#answer.resolve({ ...this.#head, body: isOne ? first : Buffer.concat(this.#held) })
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end()
    this.#answer.reject(error)
    this.#body?.destroy(error)
  }

  #giveUp(): void {
    const { signal, onAbort } = this.#answering
    const reason: unknown = signal.reason
    onAbort()
    this.#answer.reject(reason)
    this.#controller?.abort(reason instanceof Error ? reason : new Error('It was given up'))
  }

  #end(): void {
    this.#isOver = true
    this.#answering.signal.removeEventListener('abort', this.#abort)
  }
}
