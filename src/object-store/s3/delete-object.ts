import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import type { NamedObject } from '../../core/objects/object-store.ts'
import { withDeadline } from '../deadline.ts'
import type { S3Bucket } from './bucket.ts'
import { hasName } from './errors.ts'

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
  const { client, name, deadlines } = bucket
  await withDeadline({ ms: deadlines.callMs, signal: object.signal }, (abortSignal) =>
    client.send(new DeleteObjectCommand({ Bucket: name, Key: object.key }), { abortSignal }),
  )
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
      unkept.ask({ method: 'HEAD', key, signal }),
    )
    return true
  } catch (error) {
    if (!hasName(error, 'NoSuchKey', 'NotFound')) throw error
    return false
  }
}

/** Guarantees that every upload of exactly this key, open when it was called, is aborted. */
export async function abortOpenUploads(
  bucket: S3Bucket,
  { key, signal }: NamedObject,
): Promise<void> {
  let page: Page | undefined
  do {
    page = await listOpenUploads(bucket, { key, signal, after: page })
    for (const { Key, UploadId } of page.Uploads ?? []) {
      if (Key === key && UploadId !== undefined) {
        await abortUpload(bucket, { key, signal, uploadId: UploadId })
      }
    }
  } while (page.IsTruncated === true)
}

type Page = Pick<
  ListMultipartUploadsCommandOutput,
  'Uploads' | 'IsTruncated' | 'NextKeyMarker' | 'NextUploadIdMarker'
>

/** MinIO answers with the uploads of exactly `Prefix`, other servers also with those of longer keys. */
function listOpenUploads(
  { client, name, deadlines }: S3Bucket,
  { key, signal, after }: NamedObject & { readonly after: Page | undefined },
): Promise<Page> {
  const command = new ListMultipartUploadsCommand({
    Bucket: name,
    Prefix: key,
    KeyMarker: after?.NextKeyMarker,
    UploadIdMarker: after?.NextUploadIdMarker,
  })
  return withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
    client.send(command, { abortSignal }),
  )
}

async function abortUpload(
  { client, name, deadlines }: S3Bucket,
  { key, signal, uploadId }: NamedObject & { readonly uploadId: string },
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: uploadId })
  try {
    await withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
      client.send(command, { abortSignal }),
    )
  } catch (error) {
    if (!hasName(error, 'NoSuchUpload')) throw error
  }
}
