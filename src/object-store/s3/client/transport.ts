import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import { S3ResponseHandler } from './response.ts'
import { formatQuery } from './signer.ts'

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
  /** In place of a body, where all of it is there. */
  readonly content?: Uint8Array
}

/** What requests go through; of the same shape as the transports of the SDK. */
export interface S3Transport {
  handle(
    request: S3Request,
    options?: { readonly abortSignal?: unknown },
  ): Promise<{ readonly response: S3Response }>
  destroy?(): void
}

/** What the SDK's transport and ours take when nothing is said. */
export const TRANSPORT_DEFAULTS = { maxSockets: 200, connectionMs: 10_000 } as const

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
    const { keepAlive = true } = this.#options
    const held = new HeldBody(body ?? [])
    const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal
    // Of a request that waits for a connection undici holds the body, and answers nothing, until it has one.
    const answering = new S3ResponseHandler({ method, signal, onAbort: () => held.drop() })
    const sent = {
      method,
      path: withQuery(path, query),
      headers,
      body: body === undefined ? null : held.forUndici(),
      // Else it would not keep a connection after HEAD, for fear of servers that answer it with a body.
      reset: !keepAlive,
    }
    if (!signal.aborted) this.#poolOf(request).dispatch(sent, answering)
    return { response: await answering.answer }
  }

  destroy(): void {
    for (const pool of this.#pools.values()) void pool.destroy()
  }

  #poolOf({ protocol, hostname, port }: S3Request): Pool {
    const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
    const found = this.#pools.get(origin)
    if (found !== undefined) return found
    const {
      maxSockets = TRANSPORT_DEFAULTS.maxSockets,
      connectionMs = TRANSPORT_DEFAULTS.connectionMs,
      keepAlive = true,
    } = this.#options
    const pool = new Pool(origin, {
      connections: maxSockets,
      pipelining: keepAlive ? 1 : 0,
      // Of one connection for all requests, each would meet the same node, and one reader's pace be another's.
      allowH2: false,
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

/** A single piece up to here goes out together with the headers. */
const MAX_CORKED_BYTES = 64 * 1024

/** The pieces of a body, until they are dropped. */
class HeldBody {
  #pieces: readonly Uint8Array[]

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces
  }

  drop(): void {
    this.#pieces = []
  }

  /** undici takes iterables, though its types do not say so. */
  forUndici(): NonNullable<Dispatcher.DispatchOptions['body']> {
    const [first, ...others] = this.#pieces
    const isSmall = first !== undefined && first.byteLength <= MAX_CORKED_BYTES
    if (isSmall && others.length === 0) return first
    return { [Symbol.iterator]: () => this.#pieces.values() } as unknown as Readable
  }
}
