import { forEachConcurrent } from '../../../core/async/for-each-concurrent.ts'
import type { Piece, RecordedUpload } from '../../../core/objects/append-store.ts'
import { storeError } from '../../store-error.ts'
import type { S3Bucket } from '../bucket.ts'
import { headObject } from '../get-object.ts'
import { listParts } from './forgotten.ts'
import { parseObjectState, parseReceipt } from './store-state.ts'

/** Implements the port's `isStored`. */
export async function areStored(bucket: S3Bucket, upload: RecordedUpload): Promise<boolean> {
  const { pieces, offset } = upload
  try {
    upload.signal.throwIfAborted()
    if (!areGapless(pieces, offset)) return false
    const parts = pieces.filter(({ objectKey }) => objectKey === undefined)
    if (parts.length > 0 && !(await hasParts(bucket, upload, parts))) return false
    return await hasTail(bucket, upload)
  } catch (error) {
    throw storeError(error)
  }
}

function areGapless(pieces: readonly Piece[], offset: number): boolean {
  let end = 0
  for (const { firstByte, size } of pieces) {
    if (firstByte !== end) return false
    end += size
  }
  return end === offset
}

/** Whether the store has these parts, or the object that was made of them. */
async function hasParts(
  bucket: S3Bucket,
  { storeState, partSize, offset, key, signal }: RecordedUpload,
  parts: readonly Piece[],
): Promise<boolean> {
  const { multipart } = parseObjectState(storeState)
  const areListed = async (): Promise<boolean> => {
    const etags = multipart && (await listParts(bucket, { key, signal, ...multipart }))
    return parts.every(
      (part) => etags?.get(part.firstByte / partSize + 1) === parseReceipt(part).etag,
    )
  }
  if (await areListed()) return true
  if ((await headObject(bucket, { key, signal }))?.size === offset) return true
  // The search for the object has taken long enough for a second look at another node.
  return await areListed()
}

const PARALLEL_HEADS = 8

async function hasTail(bucket: S3Bucket, { pieces, signal }: RecordedUpload): Promise<boolean> {
  let isWhole = true
  const tail = pieces.flatMap(({ objectKey: key, size }) =>
    key === undefined ? [] : { key, size },
  )
  await forEachConcurrent(tail, PARALLEL_HEADS, async ({ key, size }) => {
    const found = await headObject(bucket, { key, signal })
    if (found?.size !== size) isWhole = false
  })
  return isWhole
}
