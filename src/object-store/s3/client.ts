import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { sleep } from '../../core/async/sleep.ts'
import type { ObjectKey } from '../../core/objects/object-key.ts'
import { MAX_SKEW_MS, resolveEndpoint, type S3Endpoint } from './sdk-client.ts'
import { payloadSha256, S3Signer } from './signer.ts'
import type { S3Request, S3Response, S3Transport } from './transport.ts'

export interface DirectRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT'
  readonly key: ObjectKey
  readonly query?: Record<string, string>
  readonly headers?: Record<string, string> | undefined
  readonly body?: { readonly byteLength: number; readonly chunks: readonly Uint8Array[] }
  /** Of the body, in hexadecimal; computed if omitted. */
  readonly sha256?: string | undefined
  /** A checksum header covers the body, so the signature need not include its SHA-256. */
  readonly hasChecksum?: boolean
  readonly onNewConnection?: boolean
  readonly signal: AbortSignal
}

export interface DirectS3Options {
  readonly client: S3Client
  readonly bucket: string
  readonly transport: S3Transport
  /** The store's clock minus ours, shared by all its clients; set when the store refuses a time. */
  readonly clock: { skewMs: number }
  readonly maxAttempts?: number | undefined
}

/** Bypasses the SDK, which costs more CPU than all else a small file needs. Failures are `S3ServiceException`s. */
export class DirectS3 {
  readonly #options: DirectS3Options
  #base: Promise<Base> | undefined

  constructor(options: DirectS3Options) {
    this.#options = options
  }

  /** Resolves only on success. The caller reads a GET's body to its end or destroys it. */
  async send(request: DirectRequest): Promise<S3Response> {
    const { maxAttempts = 3 } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        // A node without write quorum keeps refusing on its kept connections; a new one can reach another node.
        const onNewConnection = attempt > 1 || request.onNewConnection === true
        return await this.#attempt(request, onNewConnection)
      } catch (error) {
        request.signal.throwIfAborted()
        if (attempt >= maxAttempts || !mayPass(error)) throw error
        await sleep(backoffMs(attempt), request.signal)
      }
    }
  }

  async #attempt(request: DirectRequest, onNewConnection: boolean): Promise<S3Response> {
    const options = { abortSignal: request.signal, onNewConnection }
    const { response } = await this.#options.transport.handle(await this.#sign(request), options)
    const { body } = response
    if (body instanceof Readable) {
      // An error while nobody reads must not crash the process; a reader still sees it.
      body.on('error', () => undefined)
    }
    if (response.statusCode >= 300) throw await this.#failureOf(response)
    // Nobody reads the content of a confirmation, and it would keep the connection.
    if (request.method !== 'GET' && body instanceof Readable) await finished(body.resume())
    return response
  }

  async #sign(request: DirectRequest): Promise<S3Request> {
    const { method, key, query = {}, body, sha256, hasChecksum = false } = request
    this.#base ??= this.#resolveBase()
    const { location, signer, host } = await this.#base
    const { protocol, hostname, port } = location
    const path = `${location.path}${key}`
    const headers: Record<string, string> = { host, ...request.headers }
    let payload = EMPTY_SHA256
    if (body !== undefined) {
      headers['content-length'] = `${body.byteLength}`
      payload = hasChecksum ? 'UNSIGNED-PAYLOAD' : (sha256 ?? payloadSha256(body.chunks))
    }
    const signed = signer.sign(
      { method, path, query, headers, payloadSha256: payload },
      {
        credentials: await this.#options.client.config.credentials(),
        now: Date.now() + this.#options.clock.skewMs,
      },
    )
    return { protocol, hostname, port, method, path, query, headers: signed, body: body?.chunks }
  }

  async #resolveBase(): Promise<Base> {
    try {
      const { client, bucket } = this.#options
      const location = await resolveEndpoint(client, bucket)
      const region = await client.config.region()
      const { hostname, port } = location
      const host = port === undefined ? hostname : `${hostname}:${port}`
      return { location, host, signer: new S3Signer(region) }
    } catch (error) {
      this.#base = undefined
      throw error
    }
  }

  /** Takes the store's time from a refusal. Returns whether clock skew can be its cause. */
  #setClock(date: string | undefined): boolean {
    const { clock } = this.#options
    const skewMs = Date.parse(date ?? '') - Date.now()
    const isOff = Math.abs(skewMs - clock.skewMs) > MAX_SKEW_MS
    if (isOff) clock.skewMs = skewMs
    return isOff
  }

  async #failureOf(response: S3Response): Promise<S3ServiceException> {
    const { statusCode, headers } = response
    const text = await readText(response)
    const isSkewed = statusCode === 403 && this.#setClock(headers['date'])
    const name = CODE.exec(text)?.[1] ?? nameOf(statusCode, isSkewed)
    return new S3ServiceException({
      name,
      message: MESSAGE.exec(text)?.[1] ?? name,
      $fault: statusCode < 500 ? 'client' : 'server',
      $metadata: { httpStatusCode: statusCode, requestId: headers['x-amz-request-id'] ?? '' },
    })
  }
}

function nameOf(status: number, isSkewed: boolean): string {
  if (isSkewed) return 'RequestTimeTooSkewed'
  return status === 404 ? 'NotFound' : `Status${status}`
}

interface Base {
  readonly location: S3Endpoint
  readonly host: string
  readonly signer: S3Signer
}

const EMPTY_SHA256 = payloadSha256([])

const CODE = /<Code>([^<]*)<\/Code>/
const MESSAGE = /<Message>([^<]*)<\/Message>/

const MAX_ERROR_BYTES = 64 * 1024

const EMPTY = new Uint8Array()

async function readText({ body = EMPTY }: S3Response): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      length += chunk.byteLength
      if (length > MAX_ERROR_BYTES) break
    }
  } catch {
    // The status code is enough.
  }
  return Buffer.concat(chunks).toString()
}

const PASSING_STATUSES: ReadonlySet<number | undefined> = new Set([429, 500, 502, 503, 504])

const PASSING_CODES: ReadonlySet<string> = new Set(['RequestTimeout', 'RequestTimeTooSkewed'])

function mayPass(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return true
  return PASSING_CODES.has(error.name) || PASSING_STATUSES.has(error.$metadata.httpStatusCode)
}

const FIRST_BACKOFF_MS = 100

/** Random, so that clients refused together do not retry together. */
function backoffMs(attempt: number): number {
  return FIRST_BACKOFF_MS * 2 ** (attempt - 1) * Math.random()
}
