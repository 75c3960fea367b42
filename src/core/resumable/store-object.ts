import { AppError } from '../errors.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import { digestMismatch } from '../uploads/store-content.ts'
import { abortLost } from './abort.ts'
import type { ResumableUpload } from './resumable-ledger.ts'
import type { ResumableOptions } from './resumable-options.ts'
import { sentMetadata } from './upload-metadata.ts'

/** A sealed upload whose lease the caller has. */
export interface HeldUpload extends ResumableUpload {
  /** Its last append has also completed the object. */
  readonly isFinished?: boolean | undefined
}

export interface StoredObject {
  readonly size: number
  readonly sha256: string
}

/** Guarantees the object under its key, with the announced digest. Rejects as `finishUpload`. */
export async function storeObject(
  options: ResumableOptions,
  upload: HeldUpload,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { offset: size, isFinished = false } = upload
  assertDigest(upload, upload.sha256)
  if (!isFinished) await finishObject(options, upload, signal)
  return { size, sha256: upload.sha256 ?? (await readDigest(options, upload, signal)) }
}

async function finishObject(
  options: ResumableOptions,
  upload: ResumableUpload,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, objects } = options
  const { version, objectKey: key, offset: size, partSize, storeState } = upload
  const finished = await objects.finish({
    key,
    partSize,
    storeState,
    size,
    pieces: await ledger.listPieces(version),
    metadata: sentMetadata(upload),
    signal,
  })
  if (finished === undefined) throw await abortLost(options, upload)
  if (finished.size !== size) throw wrongSize(size, finished.size)
}

/** Reads the whole object, because no single instance has received all of its bytes in order. */
async function readDigest(
  options: ResumableOptions,
  upload: ResumableUpload,
  signal: AbortSignal,
): Promise<string> {
  const { objects, onReread } = options
  const { objectKey: key, offset: size } = upload
  let bytes = 0
  const onBytes = (more: number): void => void (bytes += more)
  const read = await readStoredDigest({ objects, key, size, onBytes, signal }).finally(() =>
    onReread?.(bytes),
  )
  if (read.sha256 === undefined) {
    throw new AppError('unavailable', 'The object store cannot currently return the content.', {
      dependency: 'object_store',
    })
  }
  assertDigest(upload, read.sha256)
  return read.sha256
}

function assertDigest({ expectedSha256 }: ResumableUpload, sha256: string | undefined): void {
  if (expectedSha256 === undefined || sha256 === undefined || sha256 === expectedSha256) return
  throw digestMismatch(sha256)
}

function wrongSize(sent: number, stored: number): AppError {
  return new AppError('unavailable', 'The stored object does not have the size of the upload.', {
    cause: new Error(`recorded ${sent} bytes, stored ${stored}`),
    dependency: 'object_store',
  })
}
