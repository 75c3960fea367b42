import { actorOf } from '../../auth/subject.ts'
import { isAppError } from '../../errors.ts'
import { assertMayHold } from '../../files/file-name.ts'
import { createVersion, type ObjectKey, objectKey } from '../../objects/object-key.ts'
import { fileTooLarge } from '../../uploads/byte-meter.ts'
import { HOLDER_MS } from './append-recorder.ts'
import { abortLost } from '../abort.ts'
import { namedBy, type NamedUpload } from '../named-upload.ts'
import {
  endedAlready,
  lengthExceeded,
  offsetMismatch,
  uploadBusy,
  uploadNotFound,
} from '../refusals.ts'
import type { Claim, ClaimAppend, ResumableUpload } from '../resumable-ledger.ts'
import type { PlannedAppend } from '../../objects/append-store.ts'
import type { ResumableOptions } from '../resumable-options.ts'
import { MAX_WAIT_MS, type RunningAppends } from './running-appends.ts'

export interface ClaimOptions extends ResumableOptions {
  readonly running: RunningAppends
}

export interface ClaimRequest extends NamedUpload {
  readonly offset: number
  readonly bodySize: number | undefined
  /** Set if the whole append counts or nothing of it. */
  readonly checksum?: object | undefined
}

export interface Claimed extends Claim {
  readonly tailKey: ObjectKey | undefined
  readonly plan: PlannedAppend
}

/**
 * Guarantees that this append alone can record until it is released or fenced. If it rejects, it releases what it may
 * have claimed. Rejects with `offset_mismatch`, `upload_busy`, `upload_gone` (`lost`), and as `ResumableLedger.claimAppend`
 * does.
 */
export async function claimUpload(
  options: ClaimOptions,
  request: ClaimRequest,
  upload: ResumableUpload,
): Promise<Claimed> {
  const { ledger, objects, running } = options
  const { subject, version, offset, bodySize } = request
  const { epoch, holder } = upload
  const plan = objects.planAppend({
    partSize: upload.partSize,
    storeState: upload.storeState,
    offset: upload.offset,
    length: upload.length,
    bodySize,
    isDiscardable: request.checksum !== undefined,
    isTakeover: holder !== undefined,
  })
  if (plan === undefined) throw await abortLost(options, upload)
  const tailKey = objects.hasTails ? objectKey(subject.userId, createVersion()) : undefined
  const asked = {
    ...actorOf(subject),
    version,
    offset,
    epoch,
    holder: running.holder,
    holderMs: HOLDER_MS,
    tailKey,
    storeState: plan.storeState,
  }
  const askedAt = performance.now()
  const claim = await claimOrWithdraw(options, asked, plan)
  // After a late answer the claim may be fenced already.
  const isLate = performance.now() - askedAt >= MAX_WAIT_MS
  // A length that was declared meanwhile: the plan for an unknown one would never make an empty object.
  const isAsPlanned = claim?.upload.length === upload.length
  if (claim !== undefined && !isLate && isAsPlanned)
    return { upload: claim.upload, tail: claim.tail, tailKey, plan }
  if (claim !== undefined) await settle(options, asked, () => release(options, asked, plan))
  const found = await ledger.findResumable(namedBy(request))
  if (found === undefined) throw uploadNotFound()
  throw (
    endedAlready(found) ?? (found.offset === offset ? uploadBusy() : offsetMismatch(found, offset))
  )
}

type AskedClaim = ClaimAppend & { readonly epoch: number }

async function claimOrWithdraw(
  options: ClaimOptions,
  asked: AskedClaim,
  plan: PlannedAppend,
): Promise<Claim | undefined> {
  try {
    return await options.ledger.claimAppend(asked)
  } catch (error) {
    // In the background: the database has kept the client waiting already.
    if (isAppError(error, 'unavailable'))
      void settle(options, asked, () => withdraw(options, asked, plan))
    throw error
  }
}

/** The epoch that a claim gives. */
export function claimedEpoch({ epoch }: Pick<ResumableUpload, 'epoch'>): number {
  return epoch + 1
}

function settle(
  { running }: ClaimOptions,
  asked: AskedClaim,
  run: () => Promise<unknown>,
): Promise<void> {
  return running.releases.settle({ version: asked.version, epoch: claimedEpoch(asked) }, run)
}

/** Releases a claim of unknown outcome if it has taken effect; otherwise it no longer can. */
async function withdraw(
  options: ClaimOptions,
  asked: AskedClaim,
  plan: PlannedAppend,
): Promise<void> {
  const { ledger } = options
  const { userId, version, epoch, holder } = asked
  if (await ledger.fence({ userId, version, epoch })) return
  const found = await ledger.findResumable({ userId, version })
  const isOwn = found?.holder === holder && found.epoch === claimedEpoch(asked)
  if (isOwn && found.state === 'open') await release(options, asked, plan)
}

async function release(
  { ledger }: ClaimOptions,
  asked: AskedClaim,
  { ifUnused: storeState }: PlannedAppend,
): Promise<void> {
  const { userId, version, offset } = asked
  await ledger.recordAppend({
    userId,
    version,
    epoch: claimedEpoch(asked),
    offset,
    storeState,
    replacedFrom: offset,
    pieces: [],
    holderMs: undefined,
  })
}

/**
 * Throws as `offsetMismatch`, or `upload_length_exceeded` or `file_too_large`, if the head of the request shows the
 * reason.
 */
export function assertFits(
  { maxFileSize }: Pick<ResumableOptions, 'maxFileSize'>,
  { offset, bodySize = 0 }: Pick<ClaimRequest, 'offset' | 'bodySize'>,
  upload: Pick<ResumableUpload, 'name' | 'state' | 'offset' | 'length'>,
): void {
  const { length } = upload
  if (offset !== upload.offset) throw offsetMismatch(upload, offset)
  const end = offset + bodySize
  assertMayHold(upload.name, length ?? end)
  // The ledger refuses to declare a length below the offset.
  if (length !== undefined && offset <= length && end > length) throw lengthExceeded(length)
  if ((length ?? end) > maxFileSize) throw fileTooLarge(maxFileSize)
}
