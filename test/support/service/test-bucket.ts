import { randomUUID } from 'node:crypto'
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { IDENTITY_NAME } from '../../../src/core/objects/object-store.ts'
import { createS3Client } from '../../../src/object-store/s3/sdk-client.ts'
import { createS3Store, type S3StoreOptions } from '../../../src/object-store/s3/store.ts'
import type { S3Address } from '../servers/s3-server.ts'

/** Settings of a store on a bucket that is not there yet, for tests that are skipped without a server. */
export function freshBucket(address: S3Address | undefined): S3StoreOptions {
  if (address === undefined) throw new Error('There is no S3 server')
  const { endpoint, region, accessKeyId, secretAccessKey } = address
  const credentials = { accessKeyId, secretAccessKey }
  const bucket = `test-${randomUUID()}`
  return { endpoint, region, forcePathStyle: true, credentials, bucket }
}

/** Deadlines for a server alone: no other one could find what it denies. */
export const ONE_SERVER = { secondLookMs: 10 } as const

/** The ids of the multipart uploads that are open under `key`. */
export async function openUploads(settings: S3StoreOptions, key: ObjectKey): Promise<string[]> {
  const client = createS3Client(settings)
  const command = new ListMultipartUploadsCommand({ Bucket: settings.bucket, Prefix: key })
  const { Uploads = [] } = await client.send(command)
  client.destroy()
  return Uploads.map(({ UploadId = '' }) => UploadId)
}

/** Removes a bucket with all that the service may have put into it. */
export async function removeBucket(settings: S3StoreOptions): Promise<void> {
  const store = createS3Store(settings)
  const client = createS3Client(settings)
  const signal = AbortSignal.timeout(60_000)
  const listed = await Array.fromAsync(store.list({ prefix: 'users/', signal }))
  for (let at = 0; at < listed.length; at += MOST_AT_ONCE) {
    const Objects = listed.slice(at, at + MOST_AT_ONCE).map(({ key }) => ({ Key: key }))
    await client.send(
      new DeleteObjectsCommand({ Bucket: settings.bucket, Delete: { Objects, Quiet: true } }),
    )
  }
  const Key = IDENTITY_NAME
  await client.send(new DeleteObjectCommand({ Bucket: settings.bucket, Key }))
  await client.send(new DeleteBucketCommand({ Bucket: settings.bucket }))
  await store.close()
  client.destroy()
}

/** What S3 takes in one request. */
const MOST_AT_ONCE = 1000
