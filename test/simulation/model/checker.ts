import { isAppError } from '../../../src/core/errors.ts'
import type { FileName } from '../../../src/core/files/file-name.ts'
import type {
  BeginUpload,
  CommittedUpload,
  CommitUpload,
  FindFile,
  Ledger,
} from '../../../src/core/ledger/ledger.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { QuotaRow } from '../../../src/database/schema.ts'
import type { FakeS3 } from '../../support/faults/fake-s3.ts'
import { assertLedger, assertObjects } from './ledger-check.ts'
import type { LedgerState, LedgerReader } from './ledger-state.ts'
import { capacityOf, type Model, type ModelUser, usedBytes } from './model.ts'
import type { Operation } from '../plan/operation.ts'
import { MAX_FILES, MAX_UPLOADS } from '../plan/parameters.ts'
import type { AppliedCall, AskedCall, Observer } from '../world/seam.ts'
import type { Actor } from '../world/timeline.ts'
import { demand } from './violation.ts'

export interface CheckerOptions {
  readonly model: Model
  readonly ledgerReader: LedgerReader
  readonly bucket: FakeS3
  readonly operations: readonly Operation[]
  /** The database's. */
  readonly clock: () => number
  /** Given what breaks an invariant; the first one counts. */
  readonly report: (violation: unknown) => void
}

/**
 * Holds what happens against the model. The database is the witness of the order: a call's effect must be the one that
 * the port promises for the state before it, and no state ever changes otherwise.
 */
export function createChecker(options: CheckerOptions): Observer {
  const { ledgerReader, bucket, model, report } = options
  let before = ledgerReader.read()
  const guarded = (check: () => void): void => {
    try {
      check()
    } catch (error) {
      report(error)
    }
  }

  return {
    asked: (call) => noteAsked(operationOf(options, call.actor), call),
    applied: (call) =>
      guarded(() => {
        const after = ledgerReader.read()
        apply({ ...options, before, after }, call)
        assertLedger(after, model)
        assertObjects(after.files, bucket)
        before = after
      }),
    removing: (removal) => guarded(() => assertRemovable(options, removal)),
    stored: () => guarded(() => assertObjects(ledgerReader.read().files, bucket)),
  }
}

function operationOf({ operations }: CheckerOptions, actor: Actor | undefined) {
  return actor?.operation === undefined ? undefined : operations[actor.operation]
}

function noteAsked(operation: Operation | undefined, call: AskedCall): void {
  if (operation === undefined) return
  if (call.method === 'begin') operation.version = call.argument.version
  if (call.method === 'commit') operation.hasAskedCommit = true
}

/** What a call found and what it left. */
interface Applied extends CheckerOptions {
  readonly before: LedgerState
  readonly after: LedgerState
}

function apply(options: Applied, call: AppliedCall): void {
  const { model } = options
  const operation = operationOf(options, call.actor)
  if (call.outcome.status === 'rejected') {
    assertRefusal(options, call)
    return
  }
  switch (call.method) {
    case 'begin':
      assertSameUser(options, operation)
      assertSlot(options, call.argument.userId)
      assertRoom(options, call.argument.userId)
      break
    case 'extend':
      assertRoom(options, call.argument.userId)
      break
    case 'commit':
      applyCommit(options, { upload: call.argument, answer: call.outcome.value, operation })
      break
    case 'deleteFile':
      noteEffect(operation)
      assertSameUser(options, operation)
      model.remove(call.argument.userId, call.argument.name)
      break
    case 'updateFile':
      noteEffect(operation)
      assertSameUser(options, operation)
      applyRename(options, call.argument)
      break
    case 'purgeDeletedUsers':
      applyPurge(options)
      break
    case 'findFile':
      assertFound(seenBy(model, call.argument), call.argument.name, call.outcome.value?.version)
      break
    case 'listFiles':
      assertListed(seenBy(model, call.argument), call.outcome.value)
      break
    case 'renew':
    case 'abort':
    case 'check':
    case 'findAccount':
    case 'listAccounts':
    case 'reportCapacity':
    case 'checkBegin':
    case 'endLeases':
    case 'listExpiredUploads':
    case 'findUserToPurge':
    case 'listAbortedUploads':
    case 'forgetUploads':
    case 'listGarbage':
    case 'noteAbortedRemovals':
    case 'noteGarbageRemovals':
    case 'measureBacklog':
    case 'measureJournal':
    case 'acquireLeaderLease':
    case 'releaseLeaderLease':
      break
  }
}

interface Committed {
  readonly upload: CommitUpload
  readonly answer: CommittedUpload
  readonly operation: Operation | undefined
}

function applyCommit({ model }: CheckerOptions, { upload, answer, operation }: Committed): void {
  demand(operation?.version === upload.version, 'I2', 'a commit of no upload')
  const { file } = answer
  demand(file.version === upload.version, 'I1', 'a commit answers another version')
  if (operation.isApplied) return
  noteEffect(operation)
  assertSameUser({ model }, operation)
  const before = model.user(upload.userId)
  const old = before.files.get(file.name)
  demand(operation.hasEnded, 'I2', 'committed before its request has ended well')
  demand(file.name === operation.fileName, 'I1', 'committed under another name')
  const { content, action } = operation
  demand(file.size === content?.bytes.length, 'I1', 'committed with another size')
  demand(file.sha256 === content.sha256, 'I1', 'committed with another digest')
  demand(before.status === 'active', 'I2', `committed for a user who is ${before.status}`)
  const demands = action.kind === 'upload' ? action.demands : 'nothing'
  demand(demands !== 'wrong digest', 'I2', 'committed with a digest that was not sent')
  demand(demands !== 'no file' || old === undefined, 'I2', 'replaced a file against If-None-Match')
  demand(demands !== 'a file' || old !== undefined, 'I2', 'made a file against If-Match')
  model.put(upload.userId, { name: file.name, file })
  const after = model.user(upload.userId)
  const [used, capacity] = [usedBytes(after), capacityOf(after)]
  const isGrowth = used > usedBytes(before)
  demand(!isGrowth || used <= capacity, 'I5', `used ${used} of ${capacity}`)
  demand(old !== undefined || after.files.size <= MAX_FILES, 'I5', `${after.files.size} files`)
}

/** Once at most, and never after its client was told that nothing has changed. */
function noteEffect(operation: Operation | undefined): asserts operation is Operation {
  demand(operation !== undefined, 'I2', 'changed by no operation')
  demand(!operation.isApplied, 'I2', 'took effect twice')
  demand(operation.answer !== 'refused', 'I2', 'took effect after it was refused')
  operation.isApplied = true
}

/** What was asked for before a user was deleted is not done to the next one of the same id. */
function assertSameUser(
  { model }: Pick<CheckerOptions, 'model'>,
  operation: Operation | undefined,
): void {
  if (operation === undefined) return
  const { createdAt } = model.user(operation.userId)
  demand(createdAt === operation.userCreatedAt, 'I2', 'changed what the next user of the id has')
}

/** The user of that id, or none where another was meant who had the id. */
function seenBy(model: Model, { userId, userCreatedAt }: Who): ModelUser {
  const user = model.user(userId)
  const isMeant = userCreatedAt === undefined || userCreatedAt === user.createdAt
  return isMeant ? user : { ...user, status: 'deleted' }
}

type Who = Pick<FindFile, 'userId' | 'userCreatedAt'>

function applyRename({ model }: CheckerOptions, change: Parameters<Ledger['updateFile']>[0]): void {
  const { userId, name, newName = name } = change
  const { files } = model.user(userId)
  const file = files.get(name)
  demand(file !== undefined, 'I1', 'renamed a file that is not there')
  const isReplacing = newName !== name && files.has(newName)
  demand(!isReplacing || change.overwrite, 'I2', 'renamed over a file')
  model.remove(userId, name)
  model.put(userId, { name: newName, file })
}

/** The order in which a deleted user's files go is the ledger's. */
function applyPurge({ model, after }: Applied): void {
  const { files } = after
  for (const userId of model.userIds()) {
    const user = model.user(userId)
    if (user.status !== 'deleted') continue
    for (const name of user.files.keys()) {
      const isLeft = files.some((file) => file.user_id === userId && file.name === name)
      if (!isLeft) model.remove(userId, name)
    }
  }
}

/** What is promised to uploads must be there (I5). */
function assertRoom({ model, before, after }: Applied, userId: UserId): void {
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
function assertSlot({ before, clock }: Applied, userId: UserId): void {
  const uploads = countUploads(before, { userId, now: clock() })
  demand(uploads < MAX_UPLOADS, 'I5', `an upload is let in beside ${uploads}`)
}

function countUploads(
  { uploads }: LedgerState,
  { userId, now }: { readonly userId: UserId; readonly now: number },
): number {
  return uploads.filter(
    (row) => row.user_id === userId && row.state === 'pending' && row.lease_until > now,
  ).length
}

/** A refusal for want of room or of a slot must be true (the limits are exact in both directions). */
function assertRefusal(applied: Applied, call: AppliedCall): void {
  if (call.outcome.status === 'fulfilled' || call.method !== 'begin') return
  const reason: unknown = call.outcome.reason
  if (isAppError(reason, 'too_many_requests')) {
    const { userId } = call.argument
    const uploads = countUploads(applied.after, { userId, now: applied.clock() })
    demand(uploads >= MAX_UPLOADS, 'I5', `an upload is refused beside ${uploads}`)
  }
  if (isAppError(reason, 'capacity_exceeded')) assertFull(applied, call.argument)
}

function assertFull({ model, after }: Applied, upload: BeginUpload): void {
  const { userId, name, bytes } = upload
  const user = model.user(userId)
  const { reserved_bytes: reserved } = quotaOf(after, userId)
  const growth = bytes - (user.files.get(name)?.size ?? 0)
  const available = capacityOf(user) - usedBytes(user) - reserved
  demand(
    growth > 0 && growth > available,
    'I5',
    `${growth} bytes refused with ${available} available`,
  )
}

function assertFound(user: ModelUser, name: FileName, version: Version | undefined): void {
  const expected = user.status === 'active' ? user.files.get(name)?.version : undefined
  demand(version === expected, 'I1', `${name} found as ${version}, but is ${expected}`)
}

function assertListed(
  user: ModelUser,
  found: readonly { readonly name: FileName; readonly version: Version }[],
): void {
  const listed = found.map(({ name, version }) => `${name} ${version}`).sort()
  const files = user.status === 'active' ? [...user.files] : []
  const expected = files.map(([name, { version }]) => `${name} ${version}`).sort()
  demand(
    listed.join() === expected.join(),
    'I1',
    `listed ${listed.join()}, but has ${expected.join()}`,
  )
}

/** Nothing is removed that is, or may still become, a file's (I7). */
function assertRemovable(
  { ledgerReader, operations }: CheckerOptions,
  { key, actor }: { readonly key: string; readonly actor: Actor | undefined },
): void {
  const { files, uploads } = ledgerReader.read()
  demand(!files.some((file) => file.object_key === key), 'I7', `removes ${key} of a file`)
  const state = uploads.find((upload) => upload.object_key === key)?.state
  const operation = actor?.operation === undefined ? undefined : operations[actor.operation]
  const isUndoing = operation?.version !== undefined && key.endsWith(operation.version)
  // A put that failed clears up after itself, before anyone has asked to commit it.
  const isOwn = isUndoing && !operation.hasAskedCommit
  demand(isOwn || state !== 'pending', 'I7', `removes ${key} of a pending upload`)
}
