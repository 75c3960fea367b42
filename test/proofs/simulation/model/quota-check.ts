import { isAppError } from '../../../../src/core/errors.ts'
import type { BeginUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { CreateResumable } from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { QuotaRow } from '../../../../src/database/schema.ts'
import { MAX_FILES, MAX_UNFINISHED, MAX_UPLOADS } from '../plan/parameters.ts'
import type { AppliedCall } from '../world/seam.ts'
import type { Applied } from './applied.ts'
import type { LedgerState } from './ledger-state.ts'
import { capacityOf, usedBytes } from './model.ts'
import { demand } from './violation.ts'

/** What is promised to uploads must be there (I5). */
export function assertRoom({ model, before, after }: Applied, userId: UserId): void {
  const promised = quotaOf(after, userId)
  if (promised.reserved_bytes <= quotaOf(before, userId).reserved_bytes) return
  const bytes = promised.used_bytes + promised.reserved_bytes
  const capacity = capacityOf(model.user(userId))
  demand(bytes <= capacity, 'I5', `promised ${bytes} of ${capacity}`)
}

function quotaOf(
  { quotas }: LedgerState,
  userId: UserId,
): Pick<QuotaRow, 'used_bytes' | 'reserved_bytes'> {
  return quotas.find((row) => row.user_id === userId) ?? { used_bytes: 0, reserved_bytes: 0 }
}

/** Before an upload that is let in fewer than the most were under way. */
export function assertSlot({ before, clock }: Applied, userId: UserId): void {
  const uploads = countUploads(before, { userId, now: clock() })
  demand(uploads < MAX_UPLOADS, 'I5', `an upload is let in beside ${uploads}`)
}

function countUploads(
  { uploads, resumables }: LedgerState,
  { userId, now }: { readonly userId: UserId; readonly now: number },
): number {
  const idle = new Set(
    resumables.filter((row) => row.holder_until <= now).map(({ version }) => version),
  )
  return uploads.filter(
    (row) =>
      row.user_id === userId &&
      row.state === 'pending' &&
      row.lease_until > now &&
      !idle.has(row.version),
  ).length
}

/** What a resumable upload may still become is reserved, and no more are unfinished than the limits allow (I5). */
export function assertCreated(applied: Applied, upload: CreateResumable): void {
  const { version, userId, length: announced = 0 } = upload
  const { count, bytes } = unfinishedOf(applied, userId)
  const isWithin = count === 0 || bytes + announced <= capacityOf(applied.model.user(userId))
  demand(count < MAX_UNFINISHED && isWithin, 'I5', `created beside ${count} of ${bytes} bytes`)
  assertReserved(applied, { version, bytes: announced })
}

function unfinishedOf({ before, clock }: Applied, userId: UserId, except?: Version) {
  const unfinished = before.resumables.filter(
    (row) =>
      row.user_id === userId &&
      row.version !== except &&
      row.state === 'pending' &&
      row.lease_until > clock(),
  )
  const bytes = unfinished.reduce((sum, row) => sum + row.announced_bytes, 0)
  return { count: unfinished.length, bytes }
}

/** The growth of these bytes over the file that they would replace now is reserved. */
export function assertReserved(
  { model, after }: Applied,
  { version, bytes }: { readonly version: Version; readonly bytes: number },
): void {
  const row = after.resumables.find((each) => each.version === version)
  demand(row !== undefined, 'I5', 'room was promised to no upload')
  const growth = bytes - (model.user(row.user_id).files.get(row.name)?.size ?? 0)
  demand(row.reserved_bytes >= growth, 'I5', `${row.reserved_bytes} reserved for ${growth} bytes`)
}

/** A refusal for want of room or of a slot must be true (the limits are exact in both directions). */
export function assertRefusal(applied: Applied, call: AppliedCall): void {
  if (call.outcome.status === 'fulfilled') return
  const reason: unknown = call.outcome.reason
  if (call.method === 'begin' && isAppError(reason, 'too_many_requests')) {
    const { userId } = call.argument
    const uploads = countUploads(applied.after, { userId, now: applied.clock() })
    demand(uploads >= MAX_UPLOADS, 'I5', `an upload is refused beside ${uploads}`)
  }
  if (isAppError(reason, 'capacity_exceeded')) assertFull(applied, call)
  if (call.method === 'restoreVersion' && isAppError(reason, 'file_count_exceeded')) {
    const { size: count } = applied.model.user(call.argument.userId).files
    demand(count >= MAX_FILES, 'I5', `a restore is refused beside ${count} files`)
  }
  if (isAppError(reason, 'unfinished_uploads_exceeded')) assertUnfinished(applied, call)
}

function assertUnfinished(applied: Applied, call: AppliedCall): void {
  const [announced, version] =
    call.method === 'createResumable'
      ? [call.argument.length ?? 0]
      : call.method === 'prepareAppend'
        ? [call.argument.length ?? call.argument.bytes, call.argument.version]
        : []
  demand(announced !== undefined, 'I5', `${call.method} refused for unfinished uploads`)
  const { userId } = call.argument as CreateResumable
  const { count, bytes } = unfinishedOf(applied, userId, version)
  const isFull = count > 0 && bytes + announced > capacityOf(applied.model.user(userId))
  const isTrue = isFull || (version === undefined && count >= MAX_UNFINISHED)
  demand(isTrue, 'I5', `${announced} bytes refused beside ${count} uploads of ${bytes}`)
}

function assertFull(applied: Applied, { method, argument }: AppliedCall): void {
  if (method === 'begin') assertNoRoom(applied, { ...argument, ownReserved: 0 })
  if (method === 'createResumable') {
    assertNoRoom(applied, { ...argument, bytes: argument.length ?? 0, ownReserved: 0 })
  }
  if (method === 'restoreVersion') {
    const { userId, version, name: newName } = argument
    const past = applied.before.history.find((row) => row.version === version)
    demand(past !== undefined, 'I15', 'room was refused to what is not past')
    const { size: bytes, name } = past
    assertNoRoom(applied, { userId, name: newName ?? name, bytes, ownReserved: 0 })
  }
  if (method !== 'prepareAppend') return
  const { version, bytes } = argument
  const row = applied.after.resumables.find((each) => each.version === version)
  demand(row !== undefined, 'I5', 'room was refused to no upload')
  const { user_id: userId, name, reserved_bytes: ownReserved } = row
  assertNoRoom(applied, { userId, name, bytes, ownReserved })
}

interface Growing extends Pick<BeginUpload, 'userId' | 'name' | 'bytes'> {
  /** What is reserved for it already. */
  readonly ownReserved: number
}

function assertNoRoom({ model, after }: Applied, upload: Growing): void {
  const { userId, name, bytes, ownReserved } = upload
  const user = model.user(userId)
  const { reserved_bytes: reserved } = quotaOf(after, userId)
  const growth = bytes - (user.files.get(name)?.size ?? 0)
  const unused = capacityOf(user) - usedBytes(user)
  const available = unused - (reserved - ownReserved)
  const isKept = growth <= ownReserved && growth <= unused
  demand(
    growth > 0 && growth > available && !isKept,
    'I5',
    `${growth} bytes refused with ${available} available`,
  )
}
