import { settledUnlessAborted } from '../../../core/async/deadline.ts'
import type { FinishObject, Piece } from '../../../core/objects/append-store.ts'
import { storeError } from '../../store-error.ts'
import type { S3Bucket } from '../bucket.ts'
import { abortOpenUploads } from '../delete-object.ts'
import { headObject } from '../get-object.ts'
import { completeMultipart, type OpenMultipart } from '../multipart-upload.ts'
import { isForgotten, isOverwritten } from './forgotten.ts'
import { parseObjectState, parseReceipt } from './store-state.ts'

/** Implements the port's `finish`. */
export async function finishObject(
  bucket: S3Bucket,
  upload: FinishObject,
): Promise<{ readonly size: number } | undefined> {
  try {
    upload.signal.throwIfAborted()
    const { multipart, whole, mayHaveStray } = parseObjectState(upload.storeState)
    if (multipart === undefined && whole !== 'stored') {
      throw new TypeError('No append has reached the length of this upload')
    }
    const isMultipart = multipart !== undefined
    const finished = isMultipart
      ? await complete(bucket, upload, multipart)
      : await findWhole(bucket, upload)
    // An append that crashed may have created another upload and not recorded it.
    const hasStray = isMultipart || mayHaveStray === true
    if (finished !== undefined && hasStray) await abortOpenUploads(bucket, upload)
    return finished
  } catch (error) {
    throw storeError(error)
  }
}

/** Resolves to `undefined` if the store has no object, or one of another size. */
async function findWhole(
  bucket: S3Bucket,
  { key, size, signal }: FinishObject,
): Promise<{ readonly size: number } | undefined> {
  const found = await headObject(bucket, { key, signal })
  return found?.size === size ? { size } : undefined
}

/** If an earlier call has made the object, the store no longer knows the upload. */
async function complete(
  bucket: S3Bucket,
  upload: FinishObject,
  { uploadId }: OpenMultipart,
): Promise<{ readonly size: number } | undefined> {
  const { key } = upload
  const parts = upload.pieces.map((piece) => partOf(piece, upload.partSize))
  let etag: string | undefined
  try {
    // MinIO can lose the parts of a completion that is cut off, so only its deadline ends it.
    const { signal } = new AbortController()
    const completion = completeMultipart(bucket, { key, uploadId, parts, signal })
    etag = await settledUnlessAborted(completion, upload.signal)
  } catch (cause) {
    const call = { key, uploadId, parts, cause, signal: upload.signal }
    if ((await isForgotten(bucket, call)) || (await isOverwritten(bucket, call))) return undefined
    throw cause
  }
  const found = await findWhole(bucket, upload)
  if (found === undefined && etag !== undefined) {
    throw new Error('The store does not have the object that it confirmed')
  }
  return found
}

function partOf(piece: Piece, partSize: number) {
  if (piece.objectKey !== undefined) throw new TypeError('The tail has not become a part')
  const { etag, crc32 } = parseReceipt(piece)
  return { partNumber: piece.firstByte / partSize + 1, etag, crc32 }
}
