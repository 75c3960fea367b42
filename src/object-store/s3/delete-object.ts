import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import type { NamedObject } from '../../core/objects/object-key.ts'
import { withDeadline } from '../../core/async/deadline.ts'
import { type CalledBucket, callS3, hasName, isMissing, type S3Bucket } from './bucket.ts'

/** Nodes asked after a removal; the load balancer may pick the same node twice. */
const LOOKS = 2

/**
 * Guarantees that the bucket holds neither the object nor an open upload of it. Uploads end first: one that completes
 * meanwhile is still deleted. A node that denies the object (see `findObject`) removes nothing, so others are asked.
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

async function isThere(
  { direct, deadlines }: S3Bucket,
  { key, signal }: NamedObject,
): Promise<boolean> {
  try {
    await withDeadline({ ms: deadlines.callMs, signal }, (signal) =>
      direct.send({ method: 'HEAD', key, onNewConnection: true, signal }),
    )
    return true
  } catch (error) {
    if (!isMissing(error)) throw error
    return false
  }
}

/** Guarantees that every upload of exactly this key that was open at the call is aborted. */
export async function abortOpenUploads(
  bucket: UploadBucket,
  { key, signal }: KeyAndSignal,
): Promise<void> {
  let page: ListMultipartUploadsCommandOutput | undefined
  do {
    // MinIO lists the uploads of exactly `Prefix`; other servers include longer keys.
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

export interface UploadBucket extends CalledBucket {
  readonly name: string
}

interface KeyAndSignal {
  readonly key: string
  readonly signal: AbortSignal
}

export async function abortUpload(
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
