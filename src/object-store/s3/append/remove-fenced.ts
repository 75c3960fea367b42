import type { FencedAppend } from '../../../core/resumable/append-store.ts'
import type { S3Bucket } from '../bucket.ts'
import { abortUpload } from '../delete-object.ts'
import { parseObjectState } from './store-state.ts'

/** Implements the port's `removeFenced`: aborts the multipart upload that only this append knows. */
export async function removeFenced(
  bucket: S3Bucket,
  { key, signal, storeState, recorded = '{}' }: FencedAppend,
): Promise<void> {
  const uploadId = parseObjectState(storeState).multipart?.uploadId
  if (uploadId === undefined || uploadId === parseObjectState(recorded).multipart?.uploadId) return
  await abortUpload(bucket, { key, signal, uploadId })
}
