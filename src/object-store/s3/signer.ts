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

interface Scope {
  readonly time: string
  readonly day: string
  readonly scope: string
}

interface Signing {
  /** Of all headers, sorted. */
  readonly names: readonly string[]
  readonly at: Scope
  readonly credentials: SigningCredentials
}

/** Signs with AWS Signature Version 4 ("Authenticating Requests", S3 API reference). Caches the key of the day. */
export class S3Signer {
  readonly #region: string
  #daily: { readonly secret: string; readonly day: string; readonly key: KeyObject } | undefined

  constructor(region: string) {
    this.#region = region
  }

  /** Returns the headers of the signed request. */
  sign(request: UnsignedRequest, { credentials, now }: SignOptions): Record<string, string> {
    const at = this.#scopeAt(now)
    const headers: Record<string, string> = {
      ...request.headers,
      'x-amz-content-sha256': request.payloadSha256,
      'x-amz-date': at.time,
    }
    const { accessKeyId, sessionToken } = credentials
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken
    const names = Object.keys(headers).sort()
    const signature = this.#signature({ ...request, headers }, { names, at, credentials })
    headers['authorization'] =
      `${ALGORITHM} Credential=${accessKeyId}/${at.scope}, ` +
      `SignedHeaders=${names.join(';')}, Signature=${signature}`
    return headers
  }

  /** Returns the query of the signed request, with which anyone can send it for `lifeS` seconds from `now`. */
  presign(
    request: UnsignedRequest,
    { credentials, now, lifeS }: SignOptions & { readonly lifeS: number },
  ): Record<string, string> {
    const at = this.#scopeAt(now)
    const { accessKeyId, sessionToken } = credentials
    const names = Object.keys(request.headers).sort()
    const query: Record<string, string> = {
      ...request.query,
      'X-Amz-Algorithm': ALGORITHM,
      'X-Amz-Credential': `${accessKeyId}/${at.scope}`,
      'X-Amz-Date': at.time,
      'X-Amz-Expires': `${lifeS}`,
      'X-Amz-SignedHeaders': names.join(';'),
    }
    if (sessionToken !== undefined) query['X-Amz-Security-Token'] = sessionToken
    const signature = this.#signature({ ...request, query }, { names, at, credentials })
    query['X-Amz-Signature'] = signature
    return query
  }

  #signature(request: UnsignedRequest, { names, at, credentials }: Signing): string {
    const { method, path, query, headers, payloadSha256: payload } = request
    let canonical = `${method}\n${path}\n${formatQuery(query)}\n`
    for (const name of names) canonical += `${name}:${headers[name]}\n`
    canonical += `\n${names.join(';')}\n${payload}`
    const text = `${ALGORITHM}\n${at.time}\n${at.scope}\n${hash('sha256', canonical)}`
    return createHmac('sha256', this.#key(credentials, at.day)).update(text).digest('hex')
  }

  #scopeAt(now: number): Scope {
    const time = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
    const day = time.slice(0, 8)
    return { time, day, scope: `${day}/${this.#region}/s3/aws4_request` }
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
