import { type AppError, isAppError } from '../../../../src/core/errors.ts'
import type { BeginUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { CreateResumable } from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { Operation } from '../plan/operation.ts'
import type { UploadAction } from '../plan/plan.ts'
import { MAX_FILES, MAX_UNFINISHED, MAX_UPLOADS } from '../plan/parameters.ts'
import type { AppliedCall } from '../world/seam.ts'
import { type Applied, operationOf } from './applied.ts'
import { type DeviceId, reservedBytes, stateAs, userAs } from './device-accounts.ts'
import type { LedgerState } from './ledger-state.ts'
import {
  capacityOf,
  countedOf,
  currentFile,
  growthOf,
  type Model,
  type ModelFile,
  usedBytes,
} from './model.ts'
import { assertBatchRefusal } from './batch-refusals.ts'
import { patched, storedMetadata, termsOf } from './file-changes.ts'
import { evictableFiles, isOf, replacedNames, sizeOf, unclaimedByOthers } from './retention.ts'
import { safeNow } from './safe-time.ts'
import { type Held, isWithin, shareFor } from './shares.ts'
import { demand } from './violation.ts'

/** What is promised to uploads must be there (I5). */
export function assertRoom(
  applied: Applied,
  userId: UserId,
  operation: Operation | undefined,
): void {
  const { model, before, after } = applied
  const { evict, deviceId } = termsBy(model, operation) ?? {}
  for (const account of new Set([undefined, deviceId])) {
    const [old, now] = [stateAs(before, account), stateAs(after, account)]
    const reserved = reservedBytes(now, userId)
    if (reserved <= reservedBytes(old, userId)) continue
    const user = userAs(model.user(userId), account)
    const evictable = sizeOf(evictableBy(applied, operation, account))
    const own = { userId, version: operation?.version }
    const others = evict === undefined ? 0 : unclaimedByOthers(now, own).reserved
    const bytes = usedBytes(user) + reserved - evictable - others
    const capacity = capacityOf(user)
    const invariant = account === undefined ? 'I5' : 'I16'
    demand(bytes <= capacity, invariant, `promised ${bytes} of ${capacity}`)
  }
}

/** What the upload of that operation may evict, of a device or of all. */
function evictableBy(applied: Applied, operation: Operation | undefined, account: DeviceId) {
  const { model, before } = applied
  const { evict, userId, name } = termsBy(model, operation) ?? {}
  if (evict === undefined || userId === undefined || name === undefined) return []
  const now = safeNow(applied)
  const replaced = replacedNames(before, { userId, now })
  const found = evictableFiles(model.user(userId), { name, evict, replaced, now })
  return found.filter((file) => isOf(file, account))
}

function termsBy(model: Model, operation: Operation | undefined) {
  if (operation === undefined) return undefined
  const { action, version, userId, fileName: name, deviceId } = operation
  const resumable = version === undefined ? undefined : model.uploads.get(version)
  if (resumable !== undefined) {
    return { evict: resumable.evict, userId, name, deviceId: resumable.deviceId }
  }
  const isUpload = action.kind === 'upload' || action.kind === 'create'
  return { evict: isUpload ? action.evict : undefined, userId, name, deviceId }
}

/** An upload that is let in finds the limit of those under way not reached (I5). */
export function assertSlot(applied: Applied, operation: Operation | undefined): void {
  if (operation === undefined) return
  const { userId, credential } = operation
  const running = runningOf(applied, { userId, credential })
  const isLeft = isWithin(shareFor(MAX_UPLOADS, credential), running)
  demand(isLeft, 'I5', `an upload is let in beside ${running.own} of ${running.all}`)
}

interface Whose {
  readonly userId: UserId
  readonly credential: string | undefined
}

function runningOf({ before, operations, clock }: Applied, whose: Whose): Held {
  const now = clock()
  const idle = new Set(
    before.resumables.filter((row) => row.holder_until <= now).map(({ version }) => version),
  )
  const running = before.uploads.filter(
    (row) => row.state === 'pending' && row.lease_until > now && !idle.has(row.version),
  )
  return held(running, { ...whose, operations })
}

interface Counted {
  readonly user_id: UserId
  readonly version: Version
}

/** How many are of the user, and of the credential by which their clients asked for them. */
function held(
  rows: readonly Counted[],
  { userId, credential, operations }: Whose & Pick<Applied, 'operations'>,
): Held {
  const ofUser = rows.filter((row) => row.user_id === userId)
  const isOwn = ({ version }: Counted): boolean =>
    operations.find((each) => each.version === version)?.credential === credential
  return { own: ofUser.filter(isOwn).length, all: ofUser.length }
}

/** What a resumable upload may still become is reserved, and no more are unfinished than the limits allow (I5). */
export function assertCreated(applied: Applied, upload: CreateResumable): void {
  const { version, userId, length: announced = 0 } = upload
  const { count, bytes, isLeft } = unfinishedOf(applied, upload)
  const isBounded = count === 0 || bytes + announced <= capacityOf(applied.model.user(userId))
  demand(isLeft && isBounded, 'I5', `created beside ${count} of ${bytes} bytes`)
  assertReserved(applied, { version, bytes: announced })
}

interface Unfinished {
  readonly userId: UserId
  readonly version: Version
}

function unfinishedOf(applied: Applied, { userId, version }: Unfinished) {
  const { before, clock } = applied
  const credential = credentialOf(applied, version)
  const unfinished = before.resumables.filter(
    (row) =>
      row.user_id === userId &&
      row.version !== version &&
      row.state === 'pending' &&
      row.lease_until > clock(),
  )
  const bytes = unfinished.reduce((sum, row) => sum + row.announced_bytes, 0)
  const counts = held(unfinished, { ...applied, userId, credential })
  const isLeft = isWithin(shareFor(MAX_UNFINISHED, credential), counts)
  return { count: counts.all, bytes, isLeft }
}

function credentialOf({ operations }: Applied, version: Version): string | undefined {
  return operations.find((each) => each.version === version)?.credential
}

/**
 * The growth of these bytes over the file that they would replace now is reserved; for a narrow credential, nothing, as
 * long as so few have arrived.
 */
export function assertReserved(
  applied: Applied,
  { version, bytes }: { readonly version: Version; readonly bytes: number },
): void {
  const { model, after } = applied
  const begun = after.uploads.find((each) => each.version === version)
  demand(begun !== undefined, 'I5', 'room was promised to no upload')
  for (const account of new Set([undefined, begun.device_id ?? undefined])) {
    const row = stateAs(after, account).uploads.find((each) => each.version === version)
    const { user_id: userId, name, reserved_bytes: reserved } = row ?? begun
    const isNarrow = credentialOf(applied, version) !== undefined
    demand(!isNarrow || reserved === 0, 'I5', `${reserved} reserved for a narrow credential`)
    const growth = growthOf(userAs(model.user(userId), account), { name, bytes })
    demand(isNarrow || reserved >= growth, 'I5', `${reserved} reserved for ${growth} bytes`)
  }
}

/** What is let in would fit now. */
export function assertAdmitted(applied: Applied, call: AppliedCall): void {
  const upload = growingOf(applied, call)
  if (upload === undefined) return
  const { userId, name, evictable = [], credential, deviceId } = upload
  const { files } = applied.model.user(userId)
  const { all: most } = shareFor(MAX_FILES, credential)
  const isCounted = files.has(name) || files.size - evictable.length < most
  demand(isCounted, 'I5', `an upload is let in beside ${files.size} files`)
  // It may have found room without the search for what it could evict.
  if (call.method === 'prepareAppend' && upload.evictable !== undefined) return
  for (const account of new Set([undefined, deviceId])) {
    const { growth, available, isLacking } = roomFor(applied, upload, account)
    const invariant = account === undefined ? 'I5' : 'I16'
    demand(!isLacking, invariant, `${growth} bytes are let in with ${available} available`)
  }
}

/** A refusal for want of room or of a slot must be true (the limits are exact in both directions). */
export function assertRefusal(applied: Applied, call: AppliedCall): void {
  if (call.outcome.status === 'fulfilled') return
  const reason: unknown = call.outcome.reason
  if (call.method === 'changeFiles') {
    assertBatchRefusal(applied, call)
    return
  }
  const operation = operationOf(applied, call.actor)
  if (call.method === 'begin' && isAppError(reason, 'too_many_requests') && operation) {
    const { credential } = operation
    const running = runningOf(applied, { userId: call.argument.userId, credential })
    const isLeft = isWithin(shareFor(MAX_UPLOADS, credential), running)
    demand(!isLeft, 'I5', `an upload is refused beside ${running.own} of ${running.all}`)
  }
  if (isAppError(reason, 'capacity_exceeded')) {
    assertFull(applied, call, reason.facts)
  }
  if (isAppError(reason, 'file_count_exceeded') && COUNTED.has(call.method)) {
    const { size: count } = applied.model.user((call.argument as CreateResumable).userId).files
    const left = count - evictableBy(applied, operation, undefined).length
    const { all: most } = shareFor(MAX_FILES, operation?.credential)
    demand(left >= most, 'I5', `refused beside ${count} files of ${most}`)
  }
  if (isAppError(reason, 'unfinished_uploads_exceeded')) assertUnfinished(applied, call)
}

const COUNTED: ReadonlySet<string> = new Set([
  'begin',
  'createResumable',
  'prepareAppend',
  'commit',
  'restoreVersion',
])

function assertUnfinished(applied: Applied, call: AppliedCall): void {
  const announced =
    call.method === 'createResumable'
      ? (call.argument.length ?? 0)
      : call.method === 'prepareAppend'
        ? (call.argument.length ?? call.argument.bytes)
        : undefined
  demand(announced !== undefined, 'I5', `${call.method} refused for unfinished uploads`)
  const upload = call.argument as CreateResumable
  const { count, bytes, isLeft } = unfinishedOf(applied, upload)
  const isFull = count > 0 && bytes + announced > capacityOf(applied.model.user(upload.userId))
  const isTrue = isFull || (call.method === 'createResumable' && !isLeft)
  demand(isTrue, 'I5', `${announced} bytes refused beside ${count} uploads of ${bytes}`)
}

/** Where neither the account nor the device has room, the device is told. */
function assertFull(applied: Applied, call: AppliedCall, facts: AppError['facts']): void {
  const upload = growingOf(applied, call)
  demand(upload !== undefined, 'I5', `room was refused to ${call.method}`)
  const { userId, deviceId, evictable } = upload
  const hasShare = deviceId === undefined || !roomFor(applied, upload, deviceId).isLacking
  demand((facts['limit'] === 'account') === hasShare, 'I16', `refused by ${String(facts['limit'])}`)
  const account = hasShare ? undefined : deviceId
  const { growth, available, isLacking } = roomFor(applied, upload, account)
  demand(isLacking, 'I5', `${growth} bytes refused with ${available} available`)
  const user = userAs(applied.model.user(userId), account)
  const reserved = reservedBytes(stateAs(applied.before, account), userId)
  const due = { capacity: capacityOf(user), used: usedBytes(user), reserved }
  const { capacity, used, reserved: told } = facts
  const isTrue = capacity === due.capacity && used === due.used && told === reserved
  demand(isTrue, 'I5', `told ${JSON.stringify(facts)}, not ${JSON.stringify(due)}`)
  // An upload that may evict is told how many bytes that could be.
  const bytes = evictable && sizeOf(evictable.filter((file) => isOf(file, account)))
  demand(facts['evictable'] === bytes, 'I5', `told ${JSON.stringify(facts)}, but not ${bytes}`)
}

interface Growing extends Pick<BeginUpload, 'userId' | 'name'> {
  /** That the file would count. */
  readonly bytes: number
  readonly version: Version | undefined
  /** Set for an upload that evicts. */
  readonly evictable: readonly ModelFile[] | undefined
  readonly credential: string | undefined
  /** To which the file would belong. */
  readonly deviceId: DeviceId
}

/** What a call wants to store, or, of an upload that begins, is about to send; `undefined` if nothing. */
function growingOf(applied: Applied, call: AppliedCall): Growing | undefined {
  const { model, before } = applied
  const operation = operationOf(applied, call.actor)
  const { evict, deviceId } = termsBy(model, operation) ?? {}
  const evictable = evict === undefined ? undefined : evictableBy(applied, operation, undefined)
  const by = { evictable, credential: operation?.credential, deviceId }
  if (call.method === 'begin') return { ...call.argument, ...by }
  if (call.method === 'createResumable') {
    return { ...call.argument, ...by, bytes: call.argument.length ?? 0 }
  }
  if (call.method === 'extend' || call.method === 'prepareAppend') {
    const { version, bytes } = call.argument
    return { ...begunBefore(before, version), ...by, version, bytes }
  }
  if (call.method === 'commit') {
    const { version, size } = call.argument
    const begun = begunBefore(before, version)
    const terms = operation && termsOf(operation, model.uploads.get(version))
    const bytes = countedOf({ size, metadata: metadataAfter(applied, begun, terms) })
    return { ...begun, ...by, version, bytes }
  }
  const atOnce = { evictable: undefined, credential: operation?.credential, version: undefined }
  if (call.method === 'restoreVersion') {
    const { userId, version, name: newName } = call.argument
    const past = before.history.find((row) => row.version === version)
    demand(past !== undefined, 'I15', 'room was refused to what is not past')
    const name = newName ?? past.name
    return {
      userId,
      name,
      bytes: countedOf(past),
      ...atOnce,
      deviceId: past.device_id ?? undefined,
    }
  }
  if (call.method !== 'updateFile') return undefined
  const { userId, name, metadata } = call.argument
  const file = model.user(userId).files.get(name)
  demand(file !== undefined, 'I1', 'room was refused to a file that is not there')
  const bytes = countedOf({ ...file, metadata: patched(file.metadata, metadata) })
  return { userId, name, bytes, ...atOnce, deviceId: file.deviceId ?? undefined }
}

type Begun = Pick<Growing, 'userId' | 'name'>

function begunBefore({ uploads }: LedgerState, version: Version): Begun {
  const row = uploads.find((each) => each.version === version)
  demand(row !== undefined, 'I5', 'room was promised or refused to no upload')
  return { userId: row.user_id, name: row.name }
}

function metadataAfter(
  { model, clock }: Applied,
  { userId, name }: Begun,
  terms: Pick<UploadAction, 'metadataBytes'> | undefined,
): string | null {
  const old = currentFile(model.user(userId), { name, now: clock() })
  return storedMetadata(terms?.metadataBytes, old)
}

/** Whether there is room before the call. Without a capacity there are no new files, not even empty ones. */
function roomFor({ model, before }: Applied, upload: Growing, account: DeviceId) {
  const { userId, name, version } = upload
  const user = userAs(model.user(userId), account)
  const state = stateAs(before, account)
  const evictable = upload.evictable?.filter((file) => isOf(file, account))
  const capacity = capacityOf(user)
  const reserved = reservedBytes(state, userId)
  const ownReserved = state.uploads.find((row) => row.version === version)?.reserved_bytes ?? 0
  const growth = growthOf(user, upload)
  const unused = capacity - usedBytes(user)
  const others =
    evictable === undefined ? { reserved: 0, awaited: 0 } : unclaimedByOthers(state, upload)
  const left = unused + sizeOf(evictable ?? []) - (reserved - ownReserved - others.reserved)
  const unpromised = capacity - (reserved - ownReserved - others.awaited)
  const available = evictable === undefined ? left : Math.min(left, unpromised)
  const isKept = evictable === undefined && growth <= ownReserved && growth <= unused
  const isFull = growth > 0 && growth > available && !isKept
  const isForbidden = growth <= 0 && capacity === 0 && !user.files.has(name)
  return { growth, available, isLacking: isFull || isForbidden }
}
