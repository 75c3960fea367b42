import { confirmMissing } from '../confirm-missing.ts'
import type { NamedObject } from '../../../core/objects/object-key.ts'
import { hasName, type S3Bucket } from '../bucket.ts'
import { headObject } from '../get-object.ts'
import type { StoredPart } from '../multipart-upload.ts'
import { listParts } from './list-parts.ts'

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
    const object = await headObject(bucket, call)
    return object ?? (await confirmMissing(call.signal, () => listParts(bucket, call)))
  })
}

/** Whether the store holds other parts than these: a fenced append has sent different bytes. */
export async function isOverwritten(
  bucket: S3Bucket,
  call: FailedCall & { readonly parts: readonly StoredPart[] },
): Promise<boolean> {
  if (!hasName(call.cause, 'InvalidPart')) return false
  const find = async (): Promise<object | undefined> => {
    const etags = await listParts(bucket, call)
    if (etags === undefined) return call
    const isThere = call.parts.every(({ partNumber, etag }) => etags.get(partNumber) === etag)
    return isThere ? etags : undefined
  }
  return await isMissing(() => confirmMissing(call.signal, find))
}

async function isMissing(find: () => Promise<object | undefined>): Promise<boolean> {
  try {
    return (await find()) === undefined
  } catch {
    return false
  }
}
