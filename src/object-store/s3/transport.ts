import { addAbortListener } from 'node:events'
import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { settledUnlessAborted } from '../../core/async/deadline.ts'
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

export interface HandleOptions {
  readonly abortSignal?: unknown
  /** Opens a new connection, so that a load balancer picks the next node, and closes it afterwards. */
  readonly onNewConnection?: boolean
}

export interface S3Transport {
  handle(request: S3Request, options?: HandleOptions): Promise<{ readonly response: S3Response }>
  destroy?(): void
}

export const TRANSPORT_DEFAULTS = { maxSockets: 200, connectionMs: 10_000 } as const

export interface S3TransportOptions {
  /** Per host, and as many new connections; further requests wait for a free one. */
  readonly maxSockets?: number | undefined
  readonly connectionMs?: number | undefined
  readonly requestHandler?: S3Transport | undefined
}

/** Limits only the time to connect: a limit on silence would cut off slow readers. Callers bound each request. */
export function createS3Transport(options: S3TransportOptions): S3Transport {
  const { maxSockets = TRANSPORT_DEFAULTS.maxSockets } = options
  const { connectionMs = TRANSPORT_DEFAULTS.connectionMs, requestHandler } = options
  const [kept, fresh] = [new Map<string, Pool>(), new Map<string, Pool>()]

  function connect(origin: string, onNewConnection: boolean): Pool {
    const pools = onNewConnection ? fresh : kept
    const known = pools.get(origin)
    if (known !== undefined) return known
    const pool = new Pool(origin, {
      connections: maxSockets,
      pipelining: onNewConnection ? 0 : 1,
      // One HTTP/2 connection would reach one node only, and a slow reader would slow the other requests.
      allowH2: false,
      connect: { timeout: connectionMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    pools.set(origin, pool)
    return pool
  }

  async function handle(
    request: S3Request,
    { abortSignal, onNewConnection = false }: HandleOptions = {},
  ): Promise<{ readonly response: S3Response }> {
    const { protocol, hostname, port, method, path } = request
    const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
    const query = formatQuery(request.query)
    const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal
    signal.throwIfAborted()
    let chunks = request.body ?? []
    // While a request waits for a connection, undici holds its body and ignores aborts.
    using _ = addAbortListener(signal, () => void (chunks = []))
    const [first] = chunks
    const isCorked = chunks.length === 1 && first && first.byteLength <= MAX_CORKED_BYTES
    const inChunks: unknown = { [Symbol.iterator]: () => chunks.values() }
    const answering = connect(origin, onNewConnection).request({
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: request.headers,
      // undici accepts iterables, but its types do not say so.
      body: request.body === undefined ? null : isCorked ? first : (inChunks as Readable),
      // Explicit, because undici otherwise closes the connection after HEAD, in case the server sends a body.
      reset: onNewConnection,
      // No read-ahead while paused.
      highWaterMark: 0,
      signal,
    })
    const { statusCode, headers: stated, body } = await settledUnlessAborted(answering, signal)
    // Only `Set-Cookie` is ever a list.
    const headers = stated as S3Headers
    const isSmall = Number(headers['content-length'] ?? Infinity) <= MAX_HELD_BYTES
    // An answer to HEAD has no content, whatever length it states.
    const isHeld = isSmall || method === 'HEAD'
    return { response: { statusCode, headers, body: isHeld ? await body.bytes() : body } }
  }

  function destroy(): void {
    for (const pool of [...kept.values(), ...fresh.values()]) void pool.destroy()
  }

  return requestHandler ?? { handle, destroy }
}

/** A single chunk up to this size is sent together with the headers. */
const MAX_CORKED_BYTES = 64 * 1024

/** Content up to this size is read whole. */
const MAX_HELD_BYTES = 64 * 1024
