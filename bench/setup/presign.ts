import { createHash, createHmac } from 'node:crypto'
import type { S3Address } from '../../test/support/servers/s3-server.ts'

type Key = Omit<S3Address, 'endpoint'>

/** Signs requests of one day and one key by AWS Signature Version 4 in the query, with the payload unsigned. */
export function createPresigner(key: Key, now = new Date()) {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = stamp.slice(0, 8)
  const scope = `${day}/${key.region}/s3/aws4_request`
  const secret = signingKey(key, day)

  /**
   * The path and query to ask for; `path` and the names and values of `query` have to be percent-encoded as AWS does.
   */
  return function presign(request: {
    readonly method: string
    readonly host: string
    readonly path: string
    readonly query?: Readonly<Record<string, string>>
  }): string {
    const { method, host, path, query = {} } = request
    const parameters = {
      ...query,
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': encodeURIComponent(`${key.accessKeyId}/${scope}`),
      'X-Amz-Date': stamp,
      'X-Amz-Expires': String(EXPIRES_S),
      'X-Amz-SignedHeaders': 'host',
    }
    const search = Object.entries(parameters)
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join('&')
    const canonical = [method, path, search, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD']
    const digest = createHash('sha256').update(canonical.join('\n')).digest('hex')
    const toSign = ['AWS4-HMAC-SHA256', stamp, scope, digest].join('\n')
    const signature = createHmac('sha256', secret).update(toSign).digest('hex')
    return `${path}?${search}&X-Amz-Signature=${signature}`
  }
}

/** Longer than any run. */
const EXPIRES_S = 86_400

function signingKey({ secretAccessKey, region }: Key, day: string): Buffer {
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`)
  for (const part of [day, region, 's3', 'aws4_request']) {
    key = createHmac('sha256', key).update(part).digest()
  }
  return key
}
