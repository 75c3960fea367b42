import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { formatQuery } from './s3-signature.ts'

/** A request as it goes out: signed, and with a body that can be sent again. */
export interface S3Request {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly method: string
  readonly path: string
  readonly query: Record<string, string>
  readonly headers: Record<string, string>
  /** The bytes, in pieces. */
  readonly body?: readonly Uint8Array[] | undefined
}

/** Names in lower case. */
export type S3Headers = Readonly<Record<string, string | undefined>>

export interface S3Response {
  readonly statusCode: number
  readonly headers: S3Headers
  /** Whoever gets it reads it to its end or destroys it. */
  readonly body?: Readable
}

/** What requests go through; of the same shape as the transports of the SDK. */
export interface S3Transport {
  handle(
    request: S3Request,
    options?: { readonly abortSignal?: unknown },
  ): Promise<{ readonly response: S3Response }>
  destroy?(): void
}

export interface S3TransportOptions {
  /** To one host; a request waits for a free one. 200 by default. */
  readonly maxSockets?: number | undefined
  /** Whether connections are kept for further requests, as by default. */
  readonly keepAlive?: boolean | undefined
  /** Time to get connected, in milliseconds; 10 s by default. */
  readonly connectionMs?: number | undefined
  /** What is taken instead. */
  readonly requestHandler?: S3Transport | undefined
}

/**
 * A transport that has no time limit of its own beyond connecting, since one for silence would
 * also cut off a slow reader: callers bound each request.
 */
export function createS3Transport(options: S3TransportOptions): S3Transport {
  return options.requestHandler ?? new UndiciTransport(options)
}

class UndiciTransport implements S3Transport {
  readonly #options: S3TransportOptions
  /** One a host; a store has one. */
  readonly #pools = new Map<string, Pool>()

  constructor(options: S3TransportOptions) {
    this.#options = options
  }

  async handle(
    request: S3Request,
    { abortSignal }: { readonly abortSignal?: unknown } = {},
  ): Promise<{ readonly response: S3Response }> {
    const { method, path, query, headers, body } = request
    const signal = abortSignal instanceof AbortSignal ? { signal: abortSignal } : {}
    const { keepAlive = true } = this.#options
    const answer = await this.#poolOf(request).request({
      method,
      path: withQuery(path, query),
      headers,
      body: bodyOf(body),
      // Else it would not keep a connection after HEAD, for fear of servers that answer it with a body.
      reset: !keepAlive,
      ...signal,
    })
    const { statusCode } = answer
    // Only `Set-Cookie` is ever a list.
    const answered = answer.headers as S3Headers
    return { response: { statusCode, headers: answered, body: answer.body } }
  }

  destroy(): void {
    for (const pool of this.#pools.values()) void pool.destroy()
  }

  #poolOf({ protocol, hostname, port }: S3Request): Pool {
    const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
    const found = this.#pools.get(origin)
    if (found !== undefined) return found
    const { maxSockets = 200, connectionMs = 10_000, keepAlive = true } = this.#options
    const pool = new Pool(origin, {
      connections: maxSockets,
      pipelining: keepAlive ? 1 : 0,
      connect: { timeout: connectionMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#pools.set(origin, pool)
    return pool
  }
}

function withQuery(path: string, query: Record<string, string>): string {
  const text = formatQuery(query)
  return text === '' ? path : `${path}?${text}`
}

/** One piece goes out together with the headers. Several are an iterable, which undici takes though its types do not say so. */
function bodyOf(pieces: S3Request['body']): NonNullable<Dispatcher.DispatchOptions['body']> | null {
  if (pieces === undefined) return null
  const [only, ...others] = pieces
  if (only !== undefined && others.length === 0) return only
  return pieces as unknown as Readable
}
