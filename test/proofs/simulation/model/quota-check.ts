import { isAppError } from '../../../../src/core/errors.ts'
import type { BeginUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { CreateResumable } from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { QuotaRow } from '../../../../src/database/schema.ts'
import type { Operation } from '../plan/operation.ts'
import { MAX_FILES, MAX_UNFINISHED, MAX_UPLOADS } from '../plan/parameters.ts'
import type { AppliedCall } from '../world/seam.ts'
import { type Applied, operationOf } from './applied.ts'
import type { LedgerState } from './ledger-state.ts'
import { capacityOf, type Model, type ModelFile, usedBytes } from './model.ts'
import { assertBatchRefusal } from './batch-refusals.ts'
import { evictableFiles, replacedNames, sizeOf, unclaimedByOthers } from './retention.ts'
import { demand } from './violation.ts'

/** What is promised to uploads must be there (I5). */
export function assertRoom(
  applied: Applied,
  userId: UserId,
  operation: Operation | undefined,
): void {
  const { model, before, after } = applied
  const promised = quotaOf(after, userId)
  if (promised.reserved_bytes <= quotaOf(before, userId).reserved_bytes) return
  const evictable = sizeOf(evictableBy(applied, operation))
  const isEvicting = evictionOf(model, operation)?.evict !== undefined
  const own = { userId, version: operation?.version }
  const others = isEvicting ? unclaimedByOthers(after, own).reserved : 0
  const bytes = promised.used_bytes + promised.reserved_bytes - evictable - others
  const capacity = capacityOf(model.user(userId))
  demand(bytes <= capacity, 'I5', `promised ${bytes} of ${capacity}`)
}

/** What the upload of that operation may evict. */
function evictableBy({ model, before, clock }: Applied, operation: Operation | undefined) {
  const { evict, userId, name } = evictionOf(model, operation) ?? {}
  if (evict === undefined || userId === undefined || name === undefined) return []
  const now = clock()
  const replaced = replacedNames(before, { userId, now })
  return evictableFiles(model.user(userId), { name, evict, replaced, now })
}

function evictionOf(model: Model, operation: Operation | undefined) {
  if (operation === undefined) return undefined
  const { action, version, userId, fileName: name } = operation
  const resumable = version === undefined ? undefined : model.uploads.get(version)
  if (resumable !== undefined) return { evict: resumable.evict, userId, name }
  const isUpload = action.kind === 'upload' || action.kind === 'create'
  return { evict: isUpload ? action.evict : undefined, userId, name }
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
  if (call.method === 'changeFiles') {
    assertBatchRefusal(applied, call)
    return
  }
  if (call.method === 'begin' && isAppError(reason, 'too_many_requests')) {
    const { userId } = call.argument
    const uploads = countUploads(applied.after, { userId, now: applied.clock() })
    demand(uploads >= MAX_UPLOADS, 'I5', `an upload is refused beside ${uploads}`)
  }
  if (isAppError(reason, 'capacity_exceeded')) {
    assertFull(applied, call)
    assertTold(applied, { call, told: reason.facts['evictable'] })
  }
  if (COUNTED.has(call.method) && isAppError(reason, 'file_count_exceeded')) {
    const operation = operationOf(applied, call.actor)
    const { size: count } = applied.model.user((call.argument as CreateResumable).userId).files
    const left = count - evictableBy(applied, operation).length
    demand(left >= MAX_FILES, 'I5', `an upload is refused beside ${count} files`)
  }
  if (call.method === 'restoreVersion' && isAppError(reason, 'file_count_exceeded')) {
    const { size: count } = applied.model.user(call.argument.userId).files
    demand(count >= MAX_FILES, 'I5', `a restore is refused beside ${count} files`)
  }
  if (isAppError(reason, 'unfinished_uploads_exceeded')) assertUnfinished(applied, call)
}

const COUNTED: ReadonlySet<string> = new Set(['begin', 'createResumable', 'commit'])

/** An upload that may evict is told how many bytes that could be. */
function assertTold(
  applied: Applied,
  { call, told }: { readonly call: AppliedCall; readonly told: unknown },
): void {
  if (call.method === 'restoreVersion') return
  const operation = operationOf(applied, call.actor)
  const isEvicting = evictionOf(applied.model, operation)?.evict !== undefined
  const expected = isEvicting ? sizeOf(evictableBy(applied, operation)) : undefined
  demand(told === expected, 'I5', `told of ${String(told)} bytes, but ${expected} can be evicted`)
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

function assertFull(applied: Applied, { method, argument, actor }: AppliedCall): void {
  const operation = operationOf(applied, actor)
  const { evict } = evictionOf(applied.model, operation) ?? {}
  const evictable = evict === undefined ? undefined : evictableBy(applied, operation)
  if (method === 'begin') assertNoRoom(applied, { ...argument, evictable, ownReserved: 0 })
  if (method === 'createResumable') {
    const bytes = argument.length ?? 0
    assertNoRoom(applied, { ...argument, bytes, evictable, ownReserved: 0 })
  }
  if (method === 'commit') {
    const row = applied.before.uploads.find((each) => each.version === argument.version)
    demand(row !== undefined, 'I5', 'room was refused to no upload')
    const { user_id: userId, name, reserved_bytes: ownReserved } = row
    const { version, size: bytes } = argument
    assertNoRoom(applied, { userId, version, name, bytes, evictable, ownReserved })
  }
  if (method === 'restoreVersion') {
    const { userId, version, name: newName } = argument
    const past = applied.before.history.find((row) => row.version === version)
    demand(past !== undefined, 'I15', 'room was refused to what is not past')
    const { size: bytes, name } = past
    const growing = { userId, name: newName ?? name, bytes, ownReserved: 0 }
    assertNoRoom(applied, { ...growing, version: undefined, evictable: undefined })
  }
  if (method !== 'prepareAppend') return
  const { version, bytes } = argument
  const row = applied.after.resumables.find((each) => each.version === version)
  demand(row !== undefined, 'I5', 'room was refused to no upload')
  const { user_id: userId, name, reserved_bytes: ownReserved } = row
  assertNoRoom(applied, { userId, version, name, bytes, evictable, ownReserved })
}

interface Growing extends Pick<BeginUpload, 'userId' | 'name' | 'bytes'> {
  /** What is reserved for it already. */
  readonly ownReserved: number
  readonly version: Version | undefined
  /** Set for an upload that evicts. */
  readonly evictable: readonly ModelFile[] | undefined
}

function assertNoRoom({ model, after }: Applied, upload: Growing): void {
  const { userId, name, bytes, ownReserved, evictable } = upload
  const user = model.user(userId)
  const { reserved_bytes: reserved } = quotaOf(after, userId)
  const growth = bytes - (user.files.get(name)?.size ?? 0)
  const unused = capacityOf(user) - usedBytes(user)
  const others =
    evictable === undefined ? { reserved: 0, awaited: 0 } : unclaimedByOthers(after, upload)
  const left = unused + sizeOf(evictable ?? []) - (reserved - ownReserved - others.reserved)
  const unpromised = capacityOf(user) - (reserved - ownReserved - others.awaited)
  const available = evictable === undefined ? left : Math.min(left, unpromised)
  const isKept = evictable === undefined && growth <= ownReserved && growth <= unused
  demand(
    growth > 0 && growth > available && !isKept,
    'I5',
    `${growth} bytes refused with ${available} available`,
  )
}
