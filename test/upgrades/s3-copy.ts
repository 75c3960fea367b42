import { gunzipSync, gzipSync } from 'node:zlib'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { createS3Client } from '../../src/object-store/s3/sdk-client.ts'
import type { S3StoreOptions } from '../../src/object-store/s3/store.ts'

interface CopiedObject {
  readonly key: string
  readonly metadata: Readonly<Record<string, string>>
  /** Base64. */
  readonly content: string
}

/** All objects of a bucket, compressed. */
export async function copyBucket(bucket: S3StoreOptions): Promise<Buffer> {
  const client = createS3Client(bucket)
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket.bucket }))
  const objects: CopiedObject[] = []
  for (const { Key: key = '' } of Contents) {
    const found = await client.send(new GetObjectCommand({ Bucket: bucket.bucket, Key: key }))
    const content = (await found.Body?.transformToString('base64')) ?? ''
    objects.push({ key, metadata: found.Metadata ?? {}, content })
  }
  client.destroy()
  return gzipSync(JSON.stringify(objects))
}

/** Puts the objects of a copy into an existing bucket. */
export async function fillBucket(bucket: S3StoreOptions, copy: Buffer): Promise<void> {
  const client = createS3Client(bucket)
  for (const { key, metadata, content } of JSON.parse(String(gunzipSync(copy))) as CopiedObject[]) {
    const object = { Bucket: bucket.bucket, Key: key, Metadata: { ...metadata } }
    await client.send(new PutObjectCommand({ ...object, Body: Buffer.from(content, 'base64') }))
  }
  client.destroy()
}
