import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import type { NamedObject } from '../../core/objects/object-store.ts'
import { withDeadline } from '../../core/async/deadline.ts'
import { callS3, hasName, isMissing, type S3Bucket } from './bucket.ts'

/** How many nodes are asked, so that a removal is believed of one that may be blind. */
const LOOKS = 2

/**
 * Guarantees that the bucket holds neither the object nor an open upload of it. Uploads end first: an upload that
 * completes in between has its object deleted, while the other order would leave it. A node that denies an object (see
 * `orMissing`) confirms its removal too and removes nothing, so others are asked: one can be the same again, by the turn
 * that a balancer takes.
 */
export async function removeObject(bucket: S3Bucket, object: NamedObject): Promise<void> {
  await abortOpenUploads(bucket, object)
  const { key, signal } = object
  const command = new DeleteObjectCommand({ Bucket: bucket.name, Key: key })
  await callS3(bucket, { command, signal })
  for (let look = 0; look < LOOKS; look++) {
    if (await isThere(bucket, object)) throw new Error('The store still has what it removed')
  }
}

/** Asks over a connection of its own. */
async function isThere(
  { unkept, deadlines }: S3Bucket,
  { key, signal }: NamedObject,
): Promise<boolean> {
  try {
    await withDeadline({ ms: deadlines.callMs, signal }, (signal) =>
      unkept.send({ method: 'HEAD', key, signal }),
    )
    return true
  } catch (error) {
    if (!isMissing(error)) throw error
    return false
  }
}

/** Guarantees that every upload of exactly this key, open when it was called, is aborted. */
export async function abortOpenUploads(
  bucket: UploadBucket,
  { key, signal }: KeyAndSignal,
): Promise<void> {
  let page: Page | undefined
  do {
    // MinIO answers with the uploads of exactly `Prefix`, other servers also with those of longer keys.
    const command = new ListMultipartUploadsCommand({
      Bucket: bucket.name,
      Prefix: key,
      KeyMarker: page?.NextKeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
    })
    page = await callS3(bucket, { command, signal })
    for (const { Key, UploadId } of page.Uploads ?? []) {
      if (Key === key) await abortUpload(bucket, { key, signal, uploadId: UploadId })
    }
  } while (page.IsTruncated === true)
}

export type UploadBucket = Pick<S3Bucket, 'client' | 'name' | 'deadlines'>

interface KeyAndSignal {
  readonly key: string
  readonly signal: AbortSignal
}

type Page = Pick<
  ListMultipartUploadsCommandOutput,
  'Uploads' | 'IsTruncated' | 'NextKeyMarker' | 'NextUploadIdMarker'
>

async function abortUpload(
  bucket: UploadBucket,
  {
    key: Key,
    signal,
    uploadId: UploadId,
  }: KeyAndSignal & { readonly uploadId: string | undefined },
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket.name, Key, UploadId })
  try {
    await callS3(bucket, { command, signal })
  } catch (error) {
    if (!hasName(error, 'NoSuchUpload')) throw error
  }
}
