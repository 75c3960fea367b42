import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { FindFile } from '../../../../src/core/files/file-ledger.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import { type Applied, type CheckerOptions, operationOf } from './applied.ts'
import { assertFeeds, record } from './feed.ts'
import {
  applyCommit,
  applyPurge,
  applyOperations,
  assertSameUser,
  noteEffect,
} from './file-changes.ts'
import { operationsOf } from './batch-refusals.ts'
import { assertLedger, assertObjects } from './ledger-check.ts'
import type { LedgerState } from './ledger-state.ts'
import { currentFile, isOver, type Model, type ModelUser, nextDate } from './model.ts'
import { applyExpiry } from './retention.ts'
import type { ModelUpload } from './model-upload.ts'
import {
  assertAdmitted,
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
import { assertSafeTime } from './safe-time.ts'
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
        assertSafeTime({ ...options, before, after }, call)
        applyResumables({ ...options, before, after }, call)
        assertLedger(after, model)
        assertFeeds(after, { model, now: model.latestSafeNow })
        assertResumables(after, options.clock())
        assertStored(after)
        model.noteDates(after.quotas)
        before = after
      }),
    sending: (request) => guarded(() => noteSent(options, request)),
    removing: (removal) => guarded(() => assertRemovable(options, removal)),
    stored: () => guarded(() => assertStored(ledgerReader.read())),
  }

  function assertStored(state: LedgerState): void {
    assertObjects([...state.files, ...state.history], bucket)
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
      assertSlot(options, operation)
      assertRoom(options, call.argument.userId, operation)
      assertAdmitted(options, call)
      assertReserved(options, call.argument)
      break
    case 'extend':
      assertRoom(options, call.argument.userId, operation)
      break
    case 'commit':
      applyCommit(options, { upload: call.argument, answer: call.outcome.value, operation })
      break
    case 'deleteFile':
    case 'updateFile':
    case 'restoreVersion':
    case 'changeFiles': {
      noteEffect(operation)
      assertSameUser(options, operation)
      const operations = operationsOf(call)
      const { credential } = operation
      applyOperations(options, { userId: call.argument.userId, operations, credential })
      break
    }
    case 'expireFiles': {
      const { userId } = call.argument
      const at = nextDate(model.user(userId), options.clock)
      const events = applyExpiry(options, { userId, ended: call.outcome.value })
      record(model, { userId, events, at })
      break
    }
    case 'purgeDeletedUsers':
      applyPurge(options)
      break
    case 'findFile':
      assertFound(options, call.argument, call.outcome.value?.version)
      break
    case 'listFiles':
      assertListed(options, call.argument, call.outcome.value.files)
      break
    case 'createResumable':
      assertSameUser(options, operation)
      assertCreated(options, call.argument)
      assertRoom(options, call.argument.userId, operation)
      assertAdmitted(options, call)
      break
    case 'prepareAppend':
      assertRoom(options, call.argument.userId, operation)
      assertAdmitted(options, call)
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
    case 'searchUsers':
    case 'reportCapacity':
    case 'reportDevices':
    case 'checkBegin':
    case 'confirm':
    case 'endLeases':
    case 'permitsDrops':
    case 'listEndedDrops':
    case 'listUsersWithExpired':
    case 'addLink':
    case 'findLink':
    case 'listLinks':
    case 'updateLink':
    case 'removeLink':
    case 'countUses':
    case 'returnUses':
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
    case 'selectFiles':
    case 'listHistory':
    case 'findPastVersion':
    case 'purgeVersion':
    case 'purgeHistory':
    case 'listUsersToTrim':
    case 'trimHistory':
    case 'acquireLeaderLease':
    case 'releaseLeaderLease':
    case 'readChanges':
    case 'latestSequences':
    case 'forgetChanges':
    case 'readGrantClock':
    case 'listGrantBoundaries':
    case 'latestChange':
    case 'noteCapacity':
    case 'advanceGrantClock':
    case 'listDueWebhooks':
    case 'readUndelivered':
    case 'settleWebhooks':
    case 'listParked':
    case 'findParked':
    case 'deleteParked':
    case 'measureWebhooks':
    case 'measureUsers':
    case 'listDailyUsage':
    case 'recordDailyUsage':
    case 'addOperator':
    case 'findOperatorOfToken':
    case 'findOperator':
    case 'listOperators':
    case 'removeOperator':
    case 'recordOperatorAction':
    case 'listOperatorActions':
    case 'forgetOperatorActions':
    case 'readClock':
    case 'storeClock':
    case 'pullBack':
      break
  }
}

/** The user of that id, or none where another was meant who had the id. */
function seenBy(model: Model, { userId, userCreatedAt }: Who): ModelUser {
  const user = model.user(userId)
  const isMeant = userCreatedAt === undefined || userCreatedAt === user.createdAt
  return isMeant ? user : { ...user, status: 'deleted' }
}

type Who = Pick<FindFile, 'userId' | 'userCreatedAt'>

function assertFound(
  { model, clock }: CheckerOptions,
  asked: Who & { readonly name: FileName },
  version: Version | undefined,
): void {
  const user = seenBy(model, asked)
  const { name } = asked
  const file = currentFile(user, { name, now: clock() })
  const expected = user.status === 'active' ? file?.version : undefined
  demand(version === expected, 'I1', `${name} found as ${version}, but is ${expected}`)
}

function assertListed(
  { model, clock }: CheckerOptions,
  asked: Who,
  found: readonly { readonly name: FileName; readonly version: Version }[],
): void {
  const listed = found.map(({ name, version }) => `${name} ${version}`).sort()
  const user = seenBy(model, asked)
  const files = user.status === 'active' ? [...user.files] : []
  const current = files.filter(([, file]) => !isOver(file, clock()))
  const expected = current.map(([name, { version }]) => `${name} ${version}`).sort()
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
  const { files, history, uploads, resumables, pieces } = ledgerReader.read()
  demand(!files.some((file) => file.object_key === key), 'I7', `removes ${key} of a file`)
  demand(!history.some((past) => past.object_key === key), 'I7', `removes ${key} of the history`)
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
