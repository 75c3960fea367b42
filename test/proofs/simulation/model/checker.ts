import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { CommittedUpload, CommitUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { FindFile } from '../../../../src/core/files/file-ledger.ts'
import type { Ledger } from '../../../../src/database/ledger/ledger.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import { type Applied, type CheckerOptions, operationOf } from './applied.ts'
import { assertLedger, assertObjects } from './ledger-check.ts'
import type { LedgerState } from './ledger-state.ts'
import { capacityOf, type Model, type ModelUser, usedBytes } from './model.ts'
import { digest, type Operation } from '../plan/operation.ts'
import { MAX_FILES } from '../plan/parameters.ts'
import type { ModelUpload } from './model-upload.ts'
import {
  assertCreated,
  assertRefusal,
  assertReserved,
  assertRoom,
  assertSlot,
} from './quota-check.ts'
import { assertKept, assertResumables } from './resumable-check.ts'
import { applyResumables } from './resumable-changes.ts'
import type { AppliedCall, AskedCall, Observer, SentRequest } from '../world/seam.ts'
import type { Actor } from '../world/timeline.ts'
import { demand } from './violation.ts'

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
    asked: (call) => noteAsked(options, call),
    applied: (call) =>
      guarded(() => {
        const after = ledgerReader.read()
        apply({ ...options, before, after }, call)
        applyResumables({ ...options, before, after }, call)
        assertLedger(after, model)
        assertResumables(after, options.clock())
        assertStored(after)
        before = after
      }),
    sending: (request) => guarded(() => noteSent(options, request)),
    removing: (removal) => guarded(() => assertRemovable(options, removal)),
    stored: () => guarded(() => assertStored(ledgerReader.read())),
  }

  function assertStored(state: LedgerState): void {
    assertObjects(state.files, bucket)
    assertKept(state, { model, bucket, now: options.clock() })
  }
}

function noteAsked(options: CheckerOptions, call: AskedCall): void {
  const operation = operationOf(options, call.actor)
  if (operation === undefined) return
  if (call.method === 'begin') operation.version = call.argument.version
  if (call.method === 'createResumable') operation.version = call.argument.version
  if (call.method === 'commit') operation.hasAskedCommit = true
  if (call.method === 'claimAppend' && call.argument.tailKey !== undefined) {
    const { version, tailKey } = call.argument
    options.model.uploads.get(version)?.tailKeys.add(tailKey)
  }
}

/** The whole content is sent as the object by one append at the most: a late request could replace other bytes. */
function noteSent(options: CheckerOptions, { key, method, isTruncated, actor }: SentRequest): void {
  const { model } = options
  if (isTruncated) model.damagedKeys.add(key)
  const upload = uploadUnder(options, key)
  if (upload === undefined || method !== 'PutObject' || upload.content.bytes.length === 0) return
  upload.putBy ??= actor?.operation
  demand(upload.putBy === actor?.operation, 'I1', `a second request for the whole of ${key}`)
}

function uploadUnder({ model }: CheckerOptions, key: string): ModelUpload | undefined {
  return model.uploads.get(key.split('/').at(-1) as Version)
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
      assertListed(seenBy(model, call.argument), call.outcome.value.files)
      break
    case 'createResumable':
      assertSameUser(options, operation)
      assertCreated(options, call.argument)
      assertRoom(options, call.argument.userId)
      break
    case 'prepareAppend':
      assertRoom(options, call.argument.userId)
      assertReserved(options, call.argument)
      break
    case 'claimAppend':
    case 'claimFinish':
    case 'recordAppend':
    case 'endFinish':
    case 'fence':
    case 'askToStop':
    case 'listAskedToStop':
    case 'findResumable':
    case 'findVersion':
    case 'listResumables':
    case 'listPieces':
    case 'measureUnfinished':
    case 'renew':
    case 'abort':
    case 'check':
    case 'findAccount':
    case 'listAccounts':
    case 'reportCapacity':
    case 'checkBegin':
    case 'confirm':
    case 'endLeases':
    case 'listExpiredUploads':
    case 'listPendingUploads':
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

function applyCommit({ model }: CheckerOptions, committed: Committed): void {
  const { upload, answer, operation } = committed
  demand(operation?.version === upload.version, 'I2', 'a commit of no upload')
  const { file } = answer
  demand(file.version === upload.version, 'I1', 'a commit answers another version')
  const resumable = model.uploads.get(upload.version)
  if (resumable === undefined ? operation.isApplied : resumable.state === 'committed') return
  if (resumable === undefined) noteEffect(operation)
  assertSameUser({ model }, operation)
  demand(
    operation.hasEnded || resumable !== undefined,
    'I2',
    'committed before its request has ended well',
  )
  const { name, content, demands } = termsOf(operation, resumable)
  demand(file.name === name, 'I1', 'committed under another name')
  demand(file.size === content?.bytes.length, 'I1', 'committed with another size')
  demand(file.sha256 === content.sha256, 'I1', 'committed with another digest')
  const before = model.user(upload.userId)
  const old = before.files.get(file.name)
  demand(before.status === 'active', 'I2', `committed for a user who is ${before.status}`)
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

/** What was asked for: by the one request, or by the creation of a resumable upload and its appends. */
function termsOf({ fileName: name, content, action }: Operation, upload: ModelUpload | undefined) {
  if (upload === undefined) {
    return { name, content, demands: action.kind === 'upload' ? action.demands : 'nothing' }
  }
  const { fileName, recorded: bytes, demands } = upload
  return { name: fileName, content: { bytes, sha256: digest(bytes) }, demands }
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
  options: CheckerOptions,
  { key, actor }: { readonly key: string; readonly actor: Actor | undefined },
): void {
  const { ledgerReader, clock } = options
  const { files, uploads, resumables, pieces } = ledgerReader.read()
  demand(!files.some((file) => file.object_key === key), 'I7', `removes ${key} of a file`)
  const state = uploads.find((upload) => upload.object_key === key)?.state
  const operation = operationOf(options, actor)
  const isUndoing = operation?.version !== undefined && key.endsWith(operation.version)
  // A put that failed clears up after itself, before anyone has asked to commit it.
  const isOwn = isUndoing && !operation.hasAskedCommit && uploadUnder(options, key) === undefined
  demand(isOwn || state !== 'pending', 'I7', `removes ${key} of a pending upload`)
  const tailOf = pieces.find((piece) => piece.object_key === key)?.version
  const upload = resumables.find(({ version }) => version === tailOf)
  const isLive = upload?.state === 'pending' && upload.lease_until > clock()
  demand(!isLive, 'I7', `removes ${key}, a tail of an unfinished upload`)
}
