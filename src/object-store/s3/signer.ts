import { createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'

export interface SigningCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export interface UnsignedRequest {
  readonly method: string
  /** As it stands in the request's line, percent-encoded where it must be. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** All of them are signed, `host` among them. Names in lower case, values without space at their ends or twice in a row. */
  readonly headers: Readonly<Record<string, string>>
  /** Of the body, in hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payloadSha256: string
}

export interface SignOptions {
  readonly credentials: SigningCredentials
  /** Milliseconds since 1970, by the clock of the store. */
  readonly now: number
}

/**
 * Signs requests to S3 (AWS Signature Version 4, with the header `Authorization`; "Authenticating Requests" in the API
 * reference of S3). It keeps the key of the day, which four of the five steps make.
 */
export class S3Signer {
  readonly #region: string
  #daily: { readonly secret: string; readonly day: string; readonly key: KeyObject } | undefined

  constructor(region: string) {
    this.#region = region
  }

  /** The headers to send: those of the request and what the signature adds. */
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
      // Of a bare buffer each use would make one.
      this.#daily = { secret, day, key: createSecretKey(key) }
    }
    return this.#daily.key
  }
}

/** Sorted and encoded as the signature wants it, so it can stand in the request's line as it is. */
export function formatQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .sort()
    .map((name) => `${encode(name)}=${encode(query[name] ?? '')}`)
    .join('&')
}

/** The digest of a body in pieces, as it is signed. */
export function payloadSha256(pieces: readonly Uint8Array[]): string {
  const digest = createHash('sha256')
  for (const piece of pieces) digest.update(piece)
  return digest.digest('hex')
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** RFC 3986's unreserved characters alone stay as they are. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
