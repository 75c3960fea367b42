import { ListPartsCommand, type ListPartsCommandOutput } from '@aws-sdk/client-s3'
import type { NamedObject } from '../../../core/objects/object-key.ts'
import { callS3, hasName, type S3Bucket } from '../bucket.ts'

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
