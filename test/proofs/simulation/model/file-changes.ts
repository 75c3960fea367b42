import { NEVER } from '../../../../src/core/files/file.ts'
import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { CommittedUpload, CommitUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { ChangeFiles, DeleteFile } from '../../../../src/core/files/file-ledger.ts'
import {
  type BatchOperation,
  type FileOperation,
  type FileUpdate,
  isByPrefix,
  type PrefixOperation,
} from '../../../../src/core/files/operation.ts'
import { parseFileName } from '../../../../src/core/files/file-name.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import { digest, metadataOf, type Operation } from '../plan/operation.ts'
import { MAX_FILES } from '../plan/parameters.ts'
import type { Applied, CheckerOptions } from './applied.ts'
import { accountsIn, type DeviceId, reservedBytes, stateAs, userAs } from './device-accounts.ts'
import { type FileEvent, record } from './feed.ts'
import {
  capacityOf,
  countedOf,
  currentFile,
  type ModelFile,
  type ModelUser,
  nextDate,
  usedBytes,
} from './model.ts'
import type { ModelUpload } from './model-upload.ts'
import { applyEviction, endExpired } from './retention.ts'
import { noteExpiry } from './safe-time.ts'
import { shareFor } from './shares.ts'
import { demand } from './violation.ts'

interface Committed {
  readonly upload: CommitUpload
  readonly answer: CommittedUpload
  readonly operation: Operation | undefined
}

/** A commit does what its request asked for, once (I1, I2, I5). The model follows. */
export function applyCommit(applied: Applied, committed: Committed): void {
  const { model, clock } = applied
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
  const terms = termsOf(operation, resumable)
  const { name, content, demands, evict, expiresInMs, metadataBytes } = terms
  const { credential, deviceId } = terms
  demand(file.name === name, 'I1', 'committed under another name')
  demand(file.size === content?.bytes.length, 'I1', 'committed with another size')
  demand(file.sha256 === content.sha256, 'I1', 'committed with another digest')
  const now = Math.trunc(clock())
  const { userId, version } = upload
  const before = model.user(userId)
  const at = nextDate(before, clock)
  const old = currentFile(before, { name, now })
  demand(before.status === 'active', 'I2', `committed for a user who is ${before.status}`)
  demand(demands !== 'wrong digest', 'I2', 'committed with a digest that was not sent')
  demand(demands !== 'no file' || old === undefined, 'I2', 'replaced a file against If-None-Match')
  demand(demands !== 'a file' || old !== undefined, 'I2', 'made a file against If-Match')
  const size = content.bytes.length
  assertMayHold(name, size)
  const metadata = storedMetadata(metadataBytes, old)
  const bytes = countedOf({ size, metadata })
  const evicting = { userId, version, name, evict, bytes, credential, deviceId }
  const events = [
    ...applyEviction(applied, { ...evicting, evicted: answer.evicted }),
    ...endExpired(applied, { userId, name }),
  ]
  const put: ModelFile = {
    version,
    size,
    sha256: content.sha256,
    deviceId: deviceId ?? null,
    updatedAt: at,
    expiresAt: expiresInMs === undefined ? NEVER : now + expiresInMs,
    isKept: old?.isKept ?? false,
    metadata,
  }
  model.put(userId, { name, file: put })
  model.deviceOf.set(version, deviceId)
  noteExpiry(applied, put)
  const type = old === undefined ? 'file.created' : 'file.replaced'
  record(model, { userId, events: [...events, { type, name, file: put }], at })
  assertFits(applied, { userId, before, credential, version, isEvicting: evict !== undefined })
}

/** What was asked for: by the one request, or by the creation of a resumable upload and its appends. */
export function termsOf(operation: Operation, upload: ModelUpload | undefined) {
  if (upload === undefined) {
    const { fileName: name, content, action, credential, deviceId } = operation
    const { demands, evict, expiresInMs, metadataBytes } =
      action.kind === 'upload' ? action : NO_TERMS
    return { name, content, demands, evict, expiresInMs, metadataBytes, credential, deviceId }
  }
  const { fileName: name, recorded: bytes, demands, evict, expiresInMs } = upload
  const { metadataBytes, credential, deviceId } = upload
  const content = { bytes, sha256: digest(bytes) }
  return { name, content, demands, evict, expiresInMs, metadataBytes, credential, deviceId }
}

const NO_TERMS = {
  demands: 'nothing',
  evict: undefined,
  expiresInMs: undefined,
  metadataBytes: undefined,
} as const

/** Those of a file after an upload, which keeps those of the file that it replaces unless it sends some. */
export function storedMetadata(
  sent: number | undefined,
  old: Pick<ModelFile, 'metadata'> | undefined,
): string | null {
  if (sent === undefined) return old?.metadata ?? null
  return sent === 0 ? null : metadataOf(sent)
}

/** The model follows a call of the ledger that has done these operations, at once. */
export function applyOperations(
  applied: Applied,
  { userId, operations, credential }: Changed,
): void {
  const { model, clock } = applied
  const before = model.user(userId)
  model.atOnce(userId, () => {
    const at = nextDate(before, clock)
    const dated = { ...applied, at }
    const events = operations.flatMap((each) => perform(dated, { ...each, userId }))
    record(model, { userId, events, at })
  })
  assertFits(applied, { userId, before, credential, version: undefined, isEvicting: false })
}

interface Changed extends Pick<ChangeFiles, 'userId' | 'operations'> {
  /** Of the client. */
  readonly credential: string | undefined
}

interface DatedCall extends Applied {
  /** The date of its commit. */
  readonly at: number
}

/** Does an operation in the model, and returns what its feed should tell of it. */
export function perform(
  applied: DatedCall,
  operation: BatchOperation & Pick<ChangeFiles, 'userId'>,
): readonly FileEvent[] {
  if (isByPrefix(operation)) return performByPrefix(applied, operation)
  if (operation.op === 'restore') return performRestore(applied, operation)
  const { userId, name, ignoresMissing } = operation
  const file = currentFile(applied.model.user(userId), { name, now: applied.clock() })
  if (file === undefined && ignoresMissing === true) return []
  return operation.op === 'delete'
    ? performRemoval(applied, operation)
    : performUpdate(applied, operation)
}

/** One file after the other, a file whose name another one gets before that one. */
function performByPrefix(
  applied: DatedCall,
  operation: PrefixOperation & Pick<ChangeFiles, 'userId'>,
): readonly FileEvent[] {
  const { userId, prefix } = operation
  const user = applied.model.user(userId)
  const now = applied.clock()
  const names = [...user.files.keys()]
    .filter((name) => name.startsWith(prefix) && currentFile(user, { name, now }) !== undefined)
    .toSorted((a, b) => (a < b ? -1 : 1))
  demand(names.length > 0 || operation.ignoresMissing === true, 'I1', 'changed no file')
  if (operation.op === 'delete-prefix') {
    return names.flatMap((name) => performRemoval(applied, { userId, name }))
  }
  const { newPrefix, overwrite } = operation
  const growth = newPrefix.length - prefix.length
  return names
    .toSorted((a, b) => growth * (b.length - a.length))
    .flatMap((name) => {
      const newName = parseFileName(`${newPrefix}${name.slice(prefix.length)}`)
      return performUpdate(applied, { userId, name, newName, overwrite })
    })
}

function performRemoval(
  { model, clock }: CheckerOptions,
  { userId, name }: Pick<DeleteFile, 'userId' | 'name'>,
): readonly FileEvent[] {
  const file = currentFile(model.user(userId), { name, now: clock() })
  demand(file !== undefined, 'I1', 'deleted a file that is not there')
  model.remove(userId, name)
  return [{ type: 'file.deleted', name, file }]
}

function performUpdate(
  applied: DatedCall,
  change: FileUpdate & Pick<ChangeFiles, 'userId'>,
): readonly FileEvent[] {
  const { model, clock, at } = applied
  const now = Math.trunc(clock())
  const { userId, name, newName = name } = change
  const user = model.user(userId)
  const old = currentFile(user, { name, now })
  demand(old !== undefined, 'I1', 'changed a file that is not there')
  const { isKept = old.isKept, expiresAt = old.expiresAt } = change
  const metadata = patched(old.metadata, change.metadata)
  const isMoved = newName !== name
  const displaced = isMoved ? currentFile(user, { name: newName, now }) : undefined
  demand(displaced === undefined || change.overwrite, 'I2', 'renamed over a file')
  assertMayHold(newName, old.size)
  const isLate = change.expiresAt !== undefined && expiresAt <= now
  demand(!isLate, 'I2', 'set an expiry that is over')
  const events: FileEvent[] = isMoved ? [...endExpired(applied, { userId, name: newName })] : []
  model.remove(userId, name)
  const keepsDate =
    !isMoved && expiresAt === old.expiresAt && isKept === old.isKept && metadata === old.metadata
  const updatedAt = keepsDate ? old.updatedAt : at
  const file = { ...old, isKept, expiresAt, metadata, updatedAt }
  if (change.expiresAt !== undefined) noteExpiry(applied, file)
  model.put(userId, { name: newName, file })
  if (displaced !== undefined) {
    events.push({ type: 'file.deleted', name: newName, file: displaced })
  }
  if (isMoved) {
    events.push({ type: 'file.renamed', name: newName, file, previousName: name })
  } else if (isKept !== old.isKept || expiresAt !== old.expiresAt || metadata !== old.metadata) {
    events.push({ type: 'file.updated', name, file })
  }
  return events
}

/** Clients have one member. */
export function patched(old: string | null, patch: FileUpdate['metadata']): string | null {
  if (patch === undefined) return old
  return patch === null ? null : JSON.stringify(patch)
}

/** Only what is past becomes current again (I15). */
function performRestore(
  applied: DatedCall,
  operation: Extract<FileOperation, { readonly op: 'restore' }> & Pick<ChangeFiles, 'userId'>,
): readonly FileEvent[] {
  const { model, clock, at, before } = applied
  const { userId, version, name, overwrite, ignoresMissing } = operation
  const past = before.history.find((row) => row.user_id === userId && row.version === version)
  if (past === undefined && ignoresMissing === true) return []
  demand(past !== undefined, 'I15', 'restored a version that is not past')
  const { size, sha256, expires_at: expiresAt, metadata } = past
  const user = model.user(userId)
  const fileName = name ?? past.name
  const now = Math.trunc(clock())
  demand(expiresAt > now, 'I15', 'restored a version whose expiry is over')
  const old = currentFile(user, { name: fileName, now })
  demand(user.status === 'active', 'I2', `restored for a user who is ${user.status}`)
  demand(old === undefined || overwrite, 'I2', 'restored over a file')
  assertMayHold(fileName, size)
  const events = endExpired(applied, { userId, name: fileName })
  const isKept = old?.isKept ?? false
  const deviceId = model.deviceOf.get(version) ?? null
  const file = { version, size, sha256, deviceId, updatedAt: at, expiresAt, isKept, metadata }
  model.put(userId, { name: fileName, file })
  return [...events, { type: 'file.restored', name: fileName, file }]
}

/** The marker of a folder has no content. */
function assertMayHold(name: FileName, size: number): void {
  demand(size === 0 || !name.endsWith('/'), 'I2', `${name} has content`)
}

interface Fitting {
  readonly userId: UserId
  readonly before: ModelUser
  readonly credential: string | undefined
  /** Of an upload. */
  readonly version: Version | undefined
  readonly isEvicting: boolean
}

/** What has grown is within the limits (I5), of each device too (I16). */
function assertFits(applied: Applied, fitting: Fitting): void {
  const { userId, before, credential } = fitting
  const after = applied.model.user(userId)
  for (const account of accountsIn(after)) assertFitsAccount(applied, account, fitting)
  const { size: count } = after.files
  const { all: most } = shareFor(MAX_FILES, credential)
  demand(count <= Math.max(most, before.files.size), 'I5', `${count} files of ${most}`)
}

function assertFitsAccount(applied: Applied, account: DeviceId, fitting: Fitting): void {
  const { userId, version, isEvicting } = fitting
  const invariant = account === undefined ? 'I5' : 'I16'
  const before = userAs(fitting.before, account)
  const after = userAs(applied.model.user(userId), account)
  const [used, capacity] = [usedBytes(after), capacityOf(after)]
  const { uploads } = stateAs(applied.before, account)
  const own = uploads.find((row) => row.version === version)?.reserved_bytes ?? 0
  const growth = used - usedBytes(before)
  const isReserved = isEvicting || growth <= own
  const promised = isReserved ? 0 : reservedBytes(stateAs(applied.after, account), userId)
  const isFitting = growth <= 0 || used + promised <= capacity
  const of = `${account ?? 'the account'}, of which ${promised} are promised`
  demand(isFitting, invariant, `used ${used} of ${capacity} of ${of}`)
  const isMore = after.files.size > before.files.size
  demand(!isMore || capacity > 0, invariant, 'a new file without a capacity')
}

/** The order in which a deleted user's files go is the ledger's. */
export function applyPurge({ model, after }: Applied): void {
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

/** Once at most, and never after its client was told that nothing has changed. */
export function noteEffect(operation: Operation | undefined): asserts operation is Operation {
  demand(operation !== undefined, 'I2', 'changed by no operation')
  demand(!operation.isApplied, 'I2', 'took effect twice')
  demand(operation.answer !== 'refused', 'I2', 'took effect after it was refused')
  operation.isApplied = true
}

/** What was asked for before a user was deleted is not done to the next one of the same id. */
export function assertSameUser(
  { model }: Pick<CheckerOptions, 'model'>,
  operation: Operation | undefined,
): void {
  if (operation === undefined) return
  const { createdAt } = model.user(operation.userId)
  demand(createdAt === operation.userCreatedAt, 'I2', 'changed what the next user of the id has')
}
