import { createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'

export interface SigningCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export interface UnsignedRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** All are signed, including `host`. Names in lower case; values without outer or repeated spaces. */
  readonly headers: Readonly<Record<string, string>>
  /** Hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payloadSha256: string
}

export interface SignOptions {
  readonly credentials: SigningCredentials
  /** Milliseconds since 1970, according to the store's clock. */
  readonly now: number
}

/** Signs with AWS Signature Version 4 ("Authenticating Requests", S3 API reference). Caches the key of the day. */
export class S3Signer {
  readonly #region: string
  #daily: { readonly secret: string; readonly day: string; readonly key: KeyObject } | undefined

  constructor(region: string) {
    this.#region = region
  }

  sign(request: UnsignedRequest, { credentials, now }: SignOptions): Record<string, string> {
    const time = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
    const day = time.slice(0, 8)
    const headers: Record<string, string> = {
      ...request.headers,
      'x-amz-content-sha256': request.payloadSha256,
      'x-amz-date': time,
    }
    const { accessKeyId, sessionToken } = credentials
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken
    const names = Object.keys(headers).sort()
    const signed = names.join(';')
    let canonical = `${request.method}\n${request.path}\n${formatQuery(request.query)}\n`
    for (const name of names) canonical += `${name}:${headers[name]}\n`
    canonical += `\n${signed}\n${request.payloadSha256}`
    const scope = `${day}/${this.#region}/s3/aws4_request`
    const text = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`
    const signature = createHmac('sha256', this.#key(credentials, day)).update(text).digest('hex')
    headers['authorization'] =
      `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
    return headers
  }

  #key({ secretAccessKey: secret }: SigningCredentials, day: string): KeyObject {
    if (this.#daily?.day !== day || this.#daily.secret !== secret) {
      const steps = [day, this.#region, 's3', 'aws4_request']
      const key = steps.reduce<Buffer>(
        (made, step) => hmac(made, step),
        Buffer.from(`AWS4${secret}`),
      )
      // A buffer would create a key object at every use.
      this.#daily = { secret, day, key: createSecretKey(key) }
    }
    return this.#daily.key
  }
}

/** Sorted and encoded as the signature requires, so the request line can use it too. */
export function formatQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .sort()
    .map((name) => `${encode(name)}=${encode(query[name] ?? '')}`)
    .join('&')
}

export function payloadSha256(chunks: readonly Uint8Array[]): string {
  const digest = createHash('sha256')
  for (const chunk of chunks) digest.update(chunk)
  return digest.digest('hex')
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Encodes everything except the unreserved characters of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
