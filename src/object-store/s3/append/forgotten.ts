import { ListPartsCommand, type ListPartsCommandOutput } from '@aws-sdk/client-s3'
import { sleep } from '../../../core/async/sleep.ts'
import type { NamedObject } from '../../../core/objects/object-key.ts'
import { callS3, hasName, type S3Bucket } from '../bucket.ts'
import { headObject } from '../get-object.ts'
import type { StoredPart } from '../multipart-upload.ts'

interface FailedCall extends NamedObject {
  readonly uploadId: string
  /** Error of a call for the upload. */
  readonly cause: unknown
}

/**
 * Whether the store has neither the upload nor an object made of it, as `headObject` and `confirmMissing` report.
 * `false` if the store does not answer.
 */
export async function isForgotten(bucket: S3Bucket, call: FailedCall): Promise<boolean> {
  if (!hasName(call.cause, 'NoSuchUpload')) return false
  return await isMissing(async () => {
    const look = () => listParts(bucket, call)
    return (await headObject(bucket, call)) ?? (await confirmMissing({ bucket, call, look }))
  })
}

/** Whether the store holds other parts than these: a fenced append has sent different bytes. */
export async function isOverwritten(
  bucket: S3Bucket,
  call: FailedCall & { readonly parts: readonly StoredPart[] },
): Promise<boolean> {
  if (!hasName(call.cause, 'InvalidPart')) return false
  const look = async (): Promise<object | undefined> => {
    const etags = await listParts(bucket, call)
    if (etags === undefined) return call
    const isThere = call.parts.every(({ partNumber, etag }) => etags.get(partNumber) === etag)
    return isThere ? etags : undefined
  }
  return await isMissing(() => confirmMissing({ bucket, call, look }))
}

interface Confirmation<T> {
  readonly bucket: S3Bucket
  readonly call: FailedCall
  readonly look: () => Promise<T | undefined>
}

/** Looks again after `secondLookMs` before it reports what a cluster node denies. */
async function confirmMissing<T>({ bucket, call, look }: Confirmation<T>): Promise<T | undefined> {
  const found = await look()
  if (found !== undefined) return found
  await sleep(bucket.deadlines.secondLookMs, call.signal)
  return await look()
}

async function isMissing(find: () => Promise<object | undefined>): Promise<boolean> {
  try {
    return (await find()) === undefined
  } catch {
    return false
  }
}

/** The ETags of the parts that an upload has, by number; `undefined` if the store denies the upload. */
export async function listParts(
  bucket: S3Bucket,
  { key, signal, uploadId }: NamedObject & { readonly uploadId: string },
): Promise<ReadonlyMap<number, string> | undefined> {
  const etags = new Map<number, string>()
  let page: ListPartsCommandOutput | undefined
  try {
    do {
      const command: ListPartsCommand = new ListPartsCommand({
        Bucket: bucket.name,
        Key: key,
        UploadId: uploadId,
        PartNumberMarker: page?.NextPartNumberMarker,
      })
      page = await callS3(bucket, { command, signal })
      for (const { PartNumber, ETag } of page.Parts ?? []) {
        if (PartNumber !== undefined && ETag !== undefined) etags.set(PartNumber, ETag)
      }
    } while (page.IsTruncated === true)
  } catch (error) {
    if (hasName(error, 'NoSuchUpload')) return undefined
    throw error
  }
  return etags
}
