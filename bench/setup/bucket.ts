import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createS3Client } from '../../src/object-store/s3/sdk-client.ts'
import type { S3StoreOptions } from '../../src/object-store/s3/store.ts'
import type { S3Server } from '../../test/support/servers/s3-server.ts'
import { freshBucket } from '../../test/support/service/test-bucket.ts'
import { createPresigner } from './presign.ts'

/** A bucket that is used without the service, by signed requests. */
export interface Bucket {
  /** Such as `http://127.0.0.1:9000`. */
  readonly origin: string
  /** The path and signed query of a request for an object. */
  target(method: 'GET' | 'PUT', key: string): string
  /** The path and signed query of a request for the first objects below `prefix`. */
  listTarget(prefix: string, limit: number): string
  /** How many requests the server has received for all its buckets; `undefined` if it does not say. */
  countRequests(): Promise<number | undefined>
  /** Removes all objects. */
  empty(): Promise<void>
}

/** A new bucket, whose client ends with `opened`. */
export async function createBucket(
  server: S3Server,
  opened: AsyncDisposableStack,
): Promise<Bucket> {
  const settings = freshBucket(server.address)
  const client = clientOf(settings, opened)
  await client.send(new CreateBucketCommand({ Bucket: settings.bucket }))
  const origin = new URL(server.address.endpoint).origin
  const presign = createPresigner(server.address)
  const place = { host: new URL(origin).host, path: `/${settings.bucket}` }
  return {
    origin,
    target: (method, key) => presign({ ...place, method, path: `${place.path}/${key}` }),
    listTarget(prefix, limit) {
      const query = {
        'list-type': '2',
        'max-keys': String(limit),
        prefix: encodeURIComponent(prefix),
      }
      return presign({ ...place, method: 'GET', path: `${place.path}/`, query })
    },
    countRequests: () => countRequests(origin),
    empty: () => emptyBucket(client, settings.bucket),
  }
}

/** From the metrics of MinIO. */
async function countRequests(origin: string): Promise<number | undefined> {
  const reply = await fetch(`${origin}/minio/metrics/v3/api/requests`)
  const text = await reply.text()
  if (reply.status !== 200) return undefined
  const counts = text.matchAll(/^minio_api_requests_total\{.*type="s3".*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** What empties a bucket that there is. */
export function emptierOf(
  settings: S3StoreOptions,
  opened: AsyncDisposableStack,
): () => Promise<void> {
  const client = clientOf(settings, opened)
  return () => emptyBucket(client, settings.bucket)
}

function clientOf(settings: S3StoreOptions, opened: AsyncDisposableStack): S3Client {
  const client = createS3Client(settings)
  opened.defer(() => client.destroy())
  return client
}

async function emptyBucket(client: S3Client, bucket: string): Promise<void> {
  for (;;) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    const Objects = Contents.map(({ Key }) => ({ Key }))
    if (Objects.length === 0) return
    await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }))
  }
}
