import { confirmMissing } from '../confirm-missing.ts'
import type { NamedObject } from '../../../core/objects/object-key.ts'
import { hasName, type S3Bucket } from '../bucket.ts'
import { headObject } from '../get-object.ts'
import type { SentPart } from '../multipart-upload.ts'
import { listParts } from './list-parts.ts'

interface FailedCall extends NamedObject {
  readonly uploadId: string
  /** Error of a call for the upload. */
  readonly cause: unknown
}

/**
 * Whether the store has neither the upload nor an object made of it. Asks again after 500 ms, because a cluster node
 * can deny what others have. `false` if the store does not answer.
 */
export async function isForgotten(bucket: S3Bucket, call: FailedCall): Promise<boolean> {
  if (!hasName(call.cause, 'NoSuchUpload')) return false
  return await isCertain(call, async () => {
    return (await headObject(bucket, call)) ?? (await listParts(bucket, call))
  })
}

/** Whether the store holds other parts than these: a fenced append has sent different bytes. */
export async function isOverwritten(
  bucket: S3Bucket,
  {
    parts,
    ...call
  }: FailedCall & { readonly parts: readonly Pick<SentPart, 'partNumber' | 'etag'>[] },
): Promise<boolean> {
  if (!hasName(call.cause, 'InvalidPart')) return false
  return await isCertain(call, async () => {
    const etags = await listParts(bucket, call)
    if (etags === undefined) return call
    const isThere = parts.every(({ partNumber, etag }) => etags.get(partNumber) === etag)
    return isThere ? etags : undefined
  })
}

async function isCertain(
  { signal }: FailedCall,
  look: () => Promise<object | undefined>,
): Promise<boolean> {
  try {
    return (await confirmMissing(signal, look)) === undefined
  } catch {
    return false
  }
}
