import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { Evicted } from '../../../../src/core/uploads/upload-ledger.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import { MAX_FILES } from '../plan/parameters.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { Applied } from './applied.ts'
import { type DeviceId, reservedBytes, stateAs, userAs } from './device-accounts.ts'
import type { FileEvent } from './feed.ts'
import type { LedgerState } from './ledger-state.ts'
import {
  capacityOf,
  countedOf,
  growthOf,
  isOver,
  type ModelFile,
  type ModelUser,
  usedBytes,
} from './model.ts'
import { assertDue, safeNow } from './safe-time.ts'
import { shareFor } from './shares.ts'
import { demand } from './violation.ts'

export interface Candidate extends ModelFile {
  readonly name: FileName
}

/**
 * What an upload of that name may evict, in order: expired files, then the oldest; of one time, by name. Neither kept
 * files nor those that an upload is about to replace.
 */
export function evictableFiles(
  { files }: ModelUser,
  {
    name: own,
    evict,
    replaced,
    now,
  }: {
    readonly name: FileName
    readonly evict: string
    readonly replaced: ReadonlySet<FileName>
    readonly now: number
  },
): readonly Candidate[] {
  const rank = (file: ModelFile): number => (isOver(file, now) ? 0 : 1)
  return Array.from(files, ([name, file]) => Object.assign({ name }, file))
    .filter((file) => file.name.startsWith(evict) && (!file.isKept || isOver(file, now)))
    .filter(({ name }) => name !== own && !replaced.has(name))
    .sort((a, b) => rank(a) - rank(b) || a.updatedAt - b.updatedAt || (a.name < b.name ? -1 : 1))
}

interface Evicting {
  readonly userId: UserId
  readonly version: Version
  readonly name: FileName
  /** That the file counts. */
  readonly bytes: number
  readonly evict: string | undefined
  readonly credential: string | undefined
  readonly deviceId: DeviceId
  /** What it says that it has evicted. */
  readonly evicted: Evicted | undefined
}

/**
 * A commit evicts the oldest files that it may, as many as it needs and not one more (I5): first of its device, until
 * the share has room, then of all (I16). The model follows.
 */
export function applyEviction(applied: Applied, upload: Evicting): readonly FileEvent[] {
  const { model, before, after } = applied
  const { userId, evict } = upload
  const user = model.user(userId)
  const isLeft = (name: FileName): boolean =>
    after.files.some((row) => row.user_id === userId && row.name === name)
  const gone = [...user.files.keys()].filter((name) => name !== upload.name && !isLeft(name))
  if (evict === undefined) {
    demand(gone.length === 0, 'I5', `evicted ${gone.join()} for an upload that may not`)
    return []
  }
  const evictable = evictableFiles(user, {
    name: upload.name,
    evict,
    replaced: replacedNames(before, { userId, now: safeNow(applied) }),
    now: safeNow(applied),
  })
  const expected: Candidate[] = []
  for (const account of new Set([upload.deviceId, undefined])) {
    for (const file of evictable.filter((each) => isOf(each, account))) {
      if (expected.includes(file)) continue
      if (lackOf(applied, { account, upload, evicted: expected }) <= 0) break
      expected.push(file)
    }
    const lack = lackOf(applied, { account, upload, evicted: expected })
    demand(lack <= 0, 'I5', `committed without ${lack} bytes or files of ${account ?? userId}`)
  }
  const due = expected.map(({ name }) => name)
  const isDue = due.toSorted().join() === gone.toSorted().join()
  demand(isDue, 'I5', `evicted ${gone.join()}, not ${due.join()}`)
  const told = upload.evicted
  const isTold = told?.files === gone.length && told.bytes === sizeOf(expected)
  demand(isTold, 'I5', 'told of another eviction')
  for (const { name } of expected) model.remove(userId, name)
  return expected.map((file) => ({ type: 'file.evicted', name: file.name, file }))
}

interface Lacking {
  readonly account: DeviceId
  readonly upload: Evicting
  readonly evicted: readonly Candidate[]
}

/** How many bytes, or else how many files, must go before the account, or the device, has room; 0 or less for none. */
function lackOf({ model, before }: Applied, { account, upload, evicted }: Lacking): number {
  const { userId, version, name, credential } = upload
  const user = userAs(model.user(userId), account)
  const state = stateAs(before, account)
  const freed = evicted.filter((file) => isOf(file, account))
  const growth = growthOf(user, upload)
  const own = state.uploads.find((row) => row.version === version)?.reserved_bytes ?? 0
  const reserved = reservedBytes(state, userId) - unclaimedByOthers(state, upload).reserved - own
  const bytes = usedBytes(user) - sizeOf(freed) + reserved + growth - capacityOf(user)
  if (growth > 0 && bytes > 0) return bytes
  if (account !== undefined || user.files.has(name)) return 0
  return 1 + user.files.size - freed.length - shareFor(MAX_FILES, credential).all
}

/** Whether the file is one of the device's, or of the account, which has all. */
export function isOf({ deviceId }: ModelFile, account: DeviceId): boolean {
  return account === undefined || deviceId === account
}

/** Names of files that uploads under way are about to replace. */
export function replacedNames(
  { uploads }: LedgerState,
  { userId, now }: { readonly userId: UserId; readonly now: number },
): ReadonlySet<FileName> {
  const running = uploads.filter(
    (row) => row.user_id === userId && row.state === 'pending' && row.lease_until > now,
  )
  return new Set(running.map(({ name }) => name))
}

interface Unclaimed {
  readonly reserved: number
  /** The part of it that unfinished resumable uploads have not received. */
  readonly awaited: number
}

/**
 * What uploads other than this one have reserved and nothing is evicted for: those that evict make that room
 * themselves, and unfinished resumable uploads have not received it.
 */
export function unclaimedByOthers(
  { uploads, resumables }: LedgerState,
  { userId, version }: { readonly userId: UserId; readonly version: Version | undefined },
): Unclaimed {
  let [reserved, awaited] = [0, 0]
  for (const row of uploads) {
    if (row.user_id !== userId || row.state !== 'pending' || row.version === version) continue
    const received = resumables.find((each) => each.version === row.version)?.received_bytes
    const missing = Math.max(0, row.reserved_bytes - (received ?? row.reserved_bytes))
    awaited += missing
    reserved += row.is_evicting === 1 ? row.reserved_bytes : missing
  }
  return { reserved, awaited }
}

export function sizeOf(files: readonly ModelFile[]): number {
  return files.reduce((sum, file) => sum + countedOf(file), 0)
}

/** Frees a name that an expired file has. */
export function endExpired(
  { model, clock }: Pick<Applied, 'model' | 'clock'>,
  { userId, name }: { readonly userId: UserId; readonly name: FileName },
): readonly FileEvent[] {
  const file = model.user(userId).files.get(name)
  if (file === undefined || !isOver(file, clock())) return []
  model.remove(userId, name)
  return [{ type: 'file.expired', name, file }]
}

/** A sweep ends expired files, and no others; those of deleted users are left to the purge. */
export function applyExpiry(
  applied: Applied,
  { userId, ended }: { readonly userId: UserId; readonly ended: number },
): readonly FileEvent[] {
  const { model, after } = applied
  const user = model.user(userId)
  const gone = [...user.files].filter(
    ([name]) => !after.files.some((row) => row.user_id === userId && row.name === name),
  )
  demand(gone.length === ended, 'I1', `${gone.length} files ended, but ${ended} were counted`)
  demand(ended === 0 || user.status !== 'deleted', 'I1', 'ended files of a deleted user')
  for (const [name, file] of gone) {
    demand(isOver(file, safeNow(applied)), 'I1', `ended ${name} before its time`)
    assertDue(applied, model.dueAt.get(file.version), name)
    model.remove(userId, name)
  }
  // Among files of one time, the order is the ledger's.
  const told = (version: string): number =>
    after.changes.findIndex((row) => row.version === version && row.type === 'file.expired')
  return gone
    .toSorted(([, a], [, b]) => a.expiresAt - b.expiresAt || told(a.version) - told(b.version))
    .map(([name, file]) => ({ type: 'file.expired', name, file }))
}
