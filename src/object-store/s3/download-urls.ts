import type { DownloadUrls } from '../../core/objects/download-urls.ts'
import { translated } from '../store-error.ts'
import { createS3Client, resolveEndpoint, type S3Place } from './sdk-client.ts'
import { formatQuery, S3Signer } from './signer.ts'

/** With the endpoint that clients reach; `undefined`: that of AWS. */
export interface DownloadUrlsOptions extends S3Place {
  readonly bucket: string
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number
}

const LIFE_S = 60

/** Sends nothing, except what the SDK sends to find credentials. */
export async function createDownloadUrls(options: DownloadUrlsOptions): Promise<DownloadUrls> {
  const { bucket, region, endpoint, forcePathStyle, credentials, now = Date.now } = options
  const client = createS3Client({ region, endpoint, forcePathStyle, credentials })
  const { protocol, hostname, port, path: folder } = await resolveEndpoint(client, bucket)
  const host = port === undefined ? hostname : `${hostname}:${port}`
  const signer = new S3Signer(region)
  return {
    hostname,
    async sign({ key, disposition }) {
      const path = `${folder}${key}`
      const query = {
        'response-cache-control': 'private, no-store',
        'response-content-disposition': disposition,
        'response-content-type': 'application/octet-stream',
      }
      const signed = signer.presign(
        { method: 'GET', path, query, headers: { host }, payloadSha256: 'UNSIGNED-PAYLOAD' },
        {
          credentials: await translated(client.config.credentials()),
          now: now(),
          lifeS: LIFE_S,
        },
      )
      return `${protocol}//${host}${path}?${formatQuery(signed)}`
    },
  }
}
