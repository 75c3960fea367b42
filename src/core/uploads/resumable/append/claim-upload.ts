import { createVersion, type ObjectKey, objectKey } from '../../../objects/object-key.ts'
import type { Caller } from '../../../users/caller.ts'
import { fileTooLarge } from '../../store-content.ts'
import { HOLDER_MS } from './append-recorder.ts'
import { abortLost } from '../finish.ts'
import { endedAlready, lengthExceeded, offsetMismatch, uploadBusy } from '../refusals.ts'
import type { Claim, NamedResumable, ResumableUpload } from '../resumable-ledger.ts'
import type { ResumableOptions } from '../resumable-options.ts'
import { MAX_WAIT_MS, type RunningAppends } from './running-appends.ts'

export interface ClaimOptions extends Pick<ResumableOptions, 'ledger' | 'objects' | 'onLost'> {
  readonly running: Pick<RunningAppends, 'holder'>
}

export interface ClaimRequest extends Caller, Pick<NamedResumable, 'version'> {
  readonly offset: number
  readonly bodySize: number | undefined
  /** Set if the whole append counts or nothing of it. */
  readonly checksum?: object | undefined
}

export interface Claimed extends Claim {
  readonly tailKey: ObjectKey | undefined
  /** `storeState` before the claim, to be recorded if the store is not called. */
  readonly storeStateBefore: string
}

/**
 * Guarantees that this append alone can record until it is released or fenced. Rejects with `offset_mismatch`,
 * `upload_busy`, `upload_gone` (`lost`), and as `Ledger.claimAppend` does.
 */
export async function claimUpload(
  options: ClaimOptions,
  request: ClaimRequest,
  upload: ResumableUpload,
): Promise<Claimed> {
  const { ledger, objects, running } = options
  const { userId, userCreatedAt, version, offset, bodySize } = request
  const { epoch, storeState: storeStateBefore } = upload
  const isDiscardable = request.checksum !== undefined
  const storeState = objects.storeStateForClaim({ ...upload, bodySize, isDiscardable })
  if (storeState === undefined) throw await abortLost(options, upload)
  const tailKey = objects.hasTails ? objectKey(userId, createVersion()) : undefined
  const holding = { holder: running.holder, holderMs: HOLDER_MS }
  const asked = { userId, userCreatedAt, version, offset, epoch, ...holding, tailKey, storeState }
  const askedAt = performance.now()
  const claim = await ledger.claimAppend(asked)
  // After a late answer the claim may be fenced already, and parts that are stored now would be removed by nobody.
  const isLate = performance.now() - askedAt >= MAX_WAIT_MS
  if (claim !== undefined && !isLate) return { ...claim, tailKey, storeStateBefore }
  const found = await ledger.findResumable(request)
  if (found === undefined) throw uploadBusy()
  throw (
    endedAlready(found) ?? (found.offset === offset ? uploadBusy() : offsetMismatch(found, offset))
  )
}

/**
 * Throws as `offsetMismatch`, or `upload_length_exceeded` or `file_too_large`, if the head of the request shows the
 * reason.
 */
export function assertFits(
  { maxFileSize }: Pick<ResumableOptions, 'maxFileSize'>,
  { offset, bodySize = 0 }: Pick<ClaimRequest, 'offset' | 'bodySize'>,
  upload: Pick<ResumableUpload, 'state' | 'offset' | 'length'>,
): void {
  const { length } = upload
  if (offset !== upload.offset) throw offsetMismatch(upload, offset)
  const end = offset + bodySize
  // The ledger refuses to declare a length below the offset.
  if (length !== undefined && offset <= length && end > length) throw lengthExceeded(length)
  if ((length ?? end) > maxFileSize) throw fileTooLarge(maxFileSize)
}
