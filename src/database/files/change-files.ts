import { AppError, isAppError } from '../../core/errors.ts'
import type {
  ChangedFiles,
  ChangeFiles,
  DeleteFile,
  UpdateFile,
} from '../../core/files/file-ledger.ts'
import { countedBytes, type File } from '../../core/files/file.ts'
import {
  type BatchOperation,
  type FileOperation,
  isByPrefix,
  refusalOfOperation,
} from '../../core/files/operation.ts'
import type { RestoreVersion } from '../../core/history/history-ledger.ts'
import { versionGoneFor } from '../../core/history/past-version.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { CommittedUpload } from '../../core/uploads/upload-ledger.ts'
import type { Usage } from '../../core/users/account-ledger.ts'
import type { Actor, Caller } from '../../core/users/caller.ts'
import { isGarbage } from '../history/past-versions.ts'
import { applyChanges } from '../ledger/apply-changes.ts'
import { type LedgerTx, lockUser, requireActive } from '../ledger/ledger-sql.ts'
import { type Holdings, readHoldings } from './holdings.ts'
import { MatchingFiles } from './matching-files.ts'
import { type Planned, planOperation } from './plan-operation.ts'
import { planByPrefix } from './plan-prefix.ts'

/** See `FileLedger.changeFiles`. */
export async function changeFiles(tx: LedgerTx, batch: ChangeFiles): Promise<ChangedFiles> {
  const { operations } = batch
  const asked = { terms: batch, operations, refusalOf: refusalOfOperation }
  const { planned, usage } = await perform(tx, asked)
  const files = planned.map(({ file }) => file)
  return { files, matched: planned.map(({ matched }) => matched), usage }
}

/** See `FileLedger.deleteFile`. */
export async function deleteFile(tx: LedgerTx, request: DeleteFile): Promise<Version> {
  const { name, precondition } = request
  const { planned } = await performOne(tx, request, { op: 'delete', name, precondition })
  const [deletion] = planned.changes
  if (deletion?.old === undefined) throw new TypeError('The operation has deleted no file')
  return deletion.old.version
}

/** See `FileLedger.updateFile`. */
export async function updateFile(tx: LedgerTx, request: UpdateFile): Promise<File> {
  const { planned } = await performOne(tx, request, { ...request, op: 'update' })
  return currentFile(planned)
}

/** See `HistoryLedger.restoreVersion`. */
export async function restoreVersion(
  tx: LedgerTx,
  request: RestoreVersion,
): Promise<CommittedUpload> {
  const { planned, usage } = await performOne(tx, request, { ...request, op: 'restore' })
  const replaced = planned.changes.some(({ type, old }) => type === 'restored' && old !== undefined)
  return { file: currentFile(planned), replaced, usage }
}

function currentFile({ file }: Planned): File {
  if (file === undefined) throw new TypeError('The operation has left no file')
  return file
}

interface Terms extends Actor {
  readonly byOperator?: boolean | undefined
}

interface Performed {
  readonly planned: readonly Planned[]
  readonly usage: Usage
}

async function performOne(tx: LedgerTx, terms: Terms, operation: FileOperation) {
  const refusalOf = (refusal: AppError): AppError => refusal
  const { planned, usage } = await perform(tx, { terms, operations: [operation], refusalOf })
  const [first] = planned
  if (first === undefined) throw new TypeError('An operation was not planned')
  return { planned: first, usage }
}

interface Perform {
  readonly terms: Terms
  readonly operations: readonly BatchOperation[]
  readonly refusalOf: (refusal: AppError, operation: number) => AppError
}

/** Plans the operations in memory, one after the other, and applies all that they change at once. */
async function perform(tx: LedgerTx, request: Perform): Promise<Performed> {
  const { terms, operations, refusalOf } = request
  const { userId, userCreatedAt, credential, byOperator } = terms
  await lockUser(tx, userId)
  const held = await readHoldings(tx, { userId, userCreatedAt, credential, operations })
  const others = operations.filter((each) => !isByPrefix(each)).length
  const matching = new MatchingFiles(tx, { userId, held, others })
  const planned: Planned[] = []
  for (const [index, operation] of operations.entries()) {
    const each = await planNext(tx, { held, matching, operation, request, index })
    planned.push(each)
    held.apply(each.changes)
  }
  try {
    const { usage, dated } = await applyChanges(tx, {
      userId,
      userCreatedAt,
      credential,
      changes: planned.flatMap((each) => each.changes),
      now: held.now,
      by: byOperator === true ? 'operator' : undefined,
    })
    const made = planned.map((each) => ({ ...each, file: each.file && dated(each.file) }))
    return { planned: made, usage }
  } catch (error) {
    throw isAppError(error) && BEYOND_QUOTA.has(error.code)
      ? beyondQuota(error, { planned, refusalOf })
      : error
  }
}

interface Next {
  readonly held: Holdings
  readonly matching: MatchingFiles
  readonly operation: BatchOperation
  readonly request: Perform
  readonly index: number
}

/** The refusal of an inactive user takes precedence, and names no operation. */
async function planNext(tx: LedgerTx, next: Next): Promise<Planned> {
  const { held, matching, operation, request, index } = next
  try {
    if (isByPrefix(operation)) return await planByPrefix({ held, matching }, operation)
    return planOperation(held, operation)
  } catch (error) {
    if (!isAppError(error)) throw error
    const { terms, refusalOf } = request
    await requireActive(tx, terms)
    throw refusalOf((await goneSince(tx, terms, { error, operation })) ?? error, index)
  }
}

/** The refusal of the restore of a version that is not found, because it has left the history before. */
async function goneSince(
  tx: LedgerTx,
  { userId, userCreatedAt }: Caller,
  { error, operation }: { readonly error: AppError; readonly operation: BatchOperation },
): Promise<AppError | undefined> {
  if (operation.op !== 'restore' || error.code !== 'not_found') return undefined
  const { version, scope } = operation
  const isGone = await isGarbage(tx, { userId, userCreatedAt, version })
  return isGone ? versionGoneFor({ scope }) : undefined
}

const BEYOND_QUOTA: ReadonlySet<string> = new Set(['file_count_exceeded', 'capacity_exceeded'])

interface Refused {
  readonly planned: readonly Planned[]
  readonly refusalOf: Perform['refusalOf']
}

/** The refusal of the operation that exceeds the limit: the last one before which the files still fit. */
function beyondQuota(refusal: AppError, { planned, refusalOf }: Refused): AppError {
  const { code, message, facts } = refusal
  const isCount = code === 'file_count_exceeded'
  const free = isCount
    ? Number(facts['max_files']) - Number(facts['file_count'])
    : facts['available']
  const room = Math.max(0, Number(free))
  const added = planned.map((each) => addedBy(each, facts['device_id']))
  const grows = !isCount && total(added.map(({ bytes }) => bytes)) > 0
  // A share of 0 refuses empty files, too.
  const growth = added.map(({ bytes, files }) => (grows ? bytes : files))
  let before = total(growth)
  const index = growth.findLastIndex((each) => {
    before -= each
    return before <= room
  })
  if (isCount) return refusalOf(refusal, index)
  const file = planned[index]?.file
  const requested = file ? countedBytes(file) : 0
  return refusalOf(new AppError(code, message, { facts: { ...facts, requested } }), index)
}

/** What the operation adds to the account, or to the device. */
function addedBy({ changes }: Planned, deviceId: unknown) {
  const added = { bytes: 0, files: 0 }
  const add = (file: File | undefined, sign: 1 | -1): void => {
    if (file === undefined || (deviceId !== undefined && file.deviceId !== deviceId)) return
    added.bytes += sign * countedBytes(file)
    added.files += sign
  }
  for (const { file, old } of changes) {
    add(old, -1)
    add(file, 1)
  }
  return added
}

function total(all: readonly number[]): number {
  return all.reduce((sum, each) => sum + each, 0)
}
