import { type Watch, watchEvery } from '../async/watch-every.ts'
import { AppError, isAppError } from '../errors.ts'
import type { ErrorCode } from '../error-codes.ts'
import type { CommittedUpload } from '../uploads/upload-ledger.ts'
import { actorOf, type Subject } from '../auth/subject.ts'
import { discard, abortLost } from './abort.ts'
import { namedBy } from './named-upload.ts'
import { endedAlready, uploadBusy } from './refusals.ts'
import type { NamedResumable, ResumableUpload } from './resumable-ledger.ts'
import type { ResumableOptions } from './resumable-options.ts'
import { sentDescription, sentMetadata } from './upload-metadata.ts'
import { HOLDER_MS } from './append/append-recorder.ts'
import type { RunningAppends } from './append/running-appends.ts'
import type { ContentDigest } from '../objects/content-digest.ts'
import { readStoredDigest } from '../objects/stored-digest.ts'
import { digestMismatch } from '../uploads/store-content.ts'

export interface FinishOptions extends ResumableOptions {
  readonly running: RunningAppends
}

export interface FinishRequest {
  readonly subject: Subject
  /** Aborts when the grace period of a shutdown is over. A client that disconnects does not stop a finish. */
  readonly shutdown: AbortSignal
}

export interface FinishResult {
  readonly sha256: string
}

/** The refusals that leave the upload sealed: the user can make room or change the file, and try again. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'capacity_exceeded',
  'link_limit_exceeded',
  'file_count_exceeded',
  'precondition_failed',
  'too_many_requests',
  'user_suspended',
  'access_token_invalid',
])

/**
 * Makes a sealed upload the file: object, digest, commit. Can be repeated on any instance. One call at a time does the
 * work, and a later call gets the same result. Rejects with `upload_busy` while another call is at work; with
 * `digest_mismatch` or `upload_gone` (`lost`), which end the upload; and as `UploadLedger.commit` does, which leaves it
 * sealed. If in doubt, a sealed upload is never aborted.
 */
export async function finishUpload(
  options: FinishOptions,
  request: FinishRequest,
  sealed: ResumableUpload,
): Promise<FinishResult> {
  const { ledger, running } = options
  const { version } = sealed
  const { holder } = running
  const claim = { ...actorOf(request.subject), version, holder, holderMs: HOLDER_MS }
  const upload = await ledger.claimFinish(claim)
  if (upload === undefined) return await finishedByAnother(options, request, sealed)
  return await finishHeld(options, request, upload)
}

/** As `finishUpload`, for an upload whose lease the request has. Releases it unless the file is committed. */
export async function finishHeld(
  options: FinishOptions,
  { subject, shutdown }: FinishRequest,
  upload: HeldUpload,
): Promise<FinishResult> {
  const { ledger } = options
  const { userId } = subject
  const { version, epoch } = upload
  using claim = keepClaim(options, upload)
  let stored: StoredObject | undefined
  try {
    const signal = AbortSignal.any([claim.lost, shutdown])
    stored = await storeObject(options, upload, signal)
    await subject.reverify()
    const { file } = await commit(options, subject, { upload, stored })
    options.onStored?.(file.size)
    return { sha256: file.sha256 }
  } catch (error) {
    if (isAppError(error, 'digest_mismatch')) await discard(options, upload, 'cancelled')
    const code = isAppError(error) ? error.code : undefined
    const refusal = code !== undefined && REFUSALS.has(code) ? code : undefined
    const end = { userId, version, epoch, refusal, digest: stored?.digest }
    await ledger.endFinish(end).catch(() => undefined)
    const named = namedBy({ subject, version })
    throw FAILURES.has(code) ? ((await endedSince(options, named)) ?? error) : error
  }
}

/** What a finish fails with if the upload is ended meanwhile: neither the database nor the store is at fault. */
const FAILURES: ReadonlySet<ErrorCode | undefined> = new Set(['unavailable', 'upload_busy'])

async function endedSince(
  { ledger }: FinishOptions,
  named: NamedResumable,
): Promise<AppError | undefined> {
  const found = await ledger.findResumable(named).catch(() => undefined)
  return found && endedAlready(found)
}

/** Repeats a commit whose outcome is unknown: for the same version, its result is the same. */
async function commit(
  { ledger }: FinishOptions,
  subject: Subject,
  { upload, stored }: { readonly upload: ResumableUpload; readonly stored: StoredObject },
): Promise<CommittedUpload> {
  const { version, visibility, precondition, linkId, evict, expiresInMs } = upload
  const { size, digest } = stored
  const { sha256, crc32 } = digest
  const { mediaType, metadata } = sentDescription(upload)
  const terms = { version, precondition, linkId, evict }
  const content = { size, sha256, crc32, visibility, mediaType, metadata, expiresInMs }
  const finished = { ...actorOf(subject), ...terms, ...content }
  try {
    return await ledger.commit(finished)
  } catch (error) {
    if (!isAppError(error, 'unavailable')) throw error
    return await ledger.commit(finished)
  }
}

/** What the commit of a finished upload returned: the journal repeats it, and of the terms only the version counts. */
function repeatCommit(
  options: FinishOptions,
  subject: Subject,
  upload: ResumableUpload,
): Promise<CommittedUpload> {
  const { offset: size, digest = UNKNOWN } = upload
  return commit(options, subject, { upload, stored: { size, digest } })
}

const UNKNOWN: ContentDigest = { sha256: '', crc32: 0 }

/** What the finish of a finished upload resolved to. Its row has no digest if the object was read for it. */
export async function finishedBefore(
  options: FinishOptions,
  { subject }: Pick<FinishRequest, 'subject'>,
  upload: ResumableUpload,
): Promise<FinishResult> {
  const { digest } = upload
  if (digest === undefined) return (await repeatCommit(options, subject, upload)).file
  await options.ledger.confirm()
  return digest
}

async function finishedByAnother(
  options: FinishOptions,
  { subject }: FinishRequest,
  { version }: ResumableUpload,
): Promise<FinishResult> {
  const found = await options.ledger.findResumable(namedBy({ subject, version }))
  if (found?.state === 'finished') return await finishedBefore(options, { subject }, found)
  throw (found && endedAlready(found)) ?? uploadBusy()
}

/**
 * Renews the claim of a finish, because a store can take minutes to complete a multipart upload of gigabytes. `lost`
 * aborts when another instance has fenced the claim, or the upload has ended.
 */
function keepClaim({ ledger }: FinishOptions, upload: ResumableUpload): Watch {
  const { userId, version, epoch, offset, storeState, digest } = upload
  return watchEvery(HOLDER_MS / 3, async () => {
    const isHeld = await ledger
      .recordAppend({
        userId,
        version,
        epoch,
        offset,
        storeState,
        replacedFrom: offset,
        pieces: [],
        holderMs: HOLDER_MS,
        sealed: { digest },
      })
      // If the claim was lost, the compare-and-set of the commit decides.
      .catch(() => true)
    return isHeld ? undefined : uploadBusy()
  })
}

/** A sealed upload whose lease the caller has. */
export interface HeldUpload extends ResumableUpload {
  /** Its last append has also completed the object. */
  readonly isFinished?: boolean | undefined
}

interface StoredObject {
  readonly size: number
  readonly digest: ContentDigest
}

/** Guarantees the object under its key, with the announced digest. Rejects as `finishUpload`. */
async function storeObject(
  options: ResumableOptions,
  upload: HeldUpload,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { offset: size, isFinished = false } = upload
  assertDigest(upload, upload.digest)
  if (!isFinished) await finishObject(options, upload, signal)
  return { size, digest: upload.digest ?? (await readDigest(options, upload, signal)) }
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
): Promise<ContentDigest> {
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
  assertDigest(upload, read)
  return read
}

function assertDigest(
  { expectedSha256 }: ResumableUpload,
  digest: ContentDigest | undefined,
): void {
  if (expectedSha256 === undefined || digest === undefined) return
  if (digest.sha256 !== expectedSha256) throw digestMismatch(digest.sha256)
}

function wrongSize(sent: number, stored: number): AppError {
  return new AppError('unavailable', 'The stored object does not have the size of the upload.', {
    cause: new Error(`recorded ${sent} bytes, stored ${stored}`),
    dependency: 'object_store',
  })
}
