import type { CommittedUpload, CommitUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { Ledger } from '../../../../src/database/ledger/ledger.ts'
import { digest, type Operation } from '../plan/operation.ts'
import { MAX_FILES } from '../plan/parameters.ts'
import type { Applied, CheckerOptions } from './applied.ts'
import { type FileEvent, record } from './feed.ts'
import { capacityOf, type ModelUser, usedBytes } from './model.ts'
import type { ModelUpload } from './model-upload.ts'
import { demand } from './violation.ts'

interface Committed {
  readonly upload: CommitUpload
  readonly answer: CommittedUpload
  readonly operation: Operation | undefined
}

/** A commit does what its request asked for, once (I1, I2, I5). The model follows. */
export function applyCommit({ model, clock }: CheckerOptions, committed: Committed): void {
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
  const type = old === undefined ? 'file.created' : 'file.replaced'
  record(model, { userId: upload.userId, events: [{ type, name: file.name, file }], clock })
  assertFits(before, model.user(upload.userId))
}

/** What was asked for: by the one request, or by the creation of a resumable upload and its appends. */
function termsOf({ fileName: name, content, action }: Operation, upload: ModelUpload | undefined) {
  if (upload === undefined) {
    return { name, content, demands: action.kind === 'upload' ? action.demands : 'nothing' }
  }
  const { fileName, recorded: bytes, demands } = upload
  return { name: fileName, content: { bytes, sha256: digest(bytes) }, demands }
}

export function applyRemoval(
  { model, clock }: CheckerOptions,
  { userId, name }: Parameters<Ledger['deleteFile']>[0],
): void {
  const file = model.user(userId).files.get(name)
  demand(file !== undefined, 'I1', 'deleted a file that is not there')
  model.remove(userId, name)
  record(model, { userId, events: [{ type: 'file.deleted', name, file }], clock })
}

export function applyRename(
  { model, clock }: CheckerOptions,
  change: Parameters<Ledger['updateFile']>[0],
): void {
  const { userId, name, newName = name } = change
  const { files } = model.user(userId)
  const file = files.get(name)
  demand(file !== undefined, 'I1', 'renamed a file that is not there')
  const displaced = newName === name ? undefined : files.get(newName)
  demand(displaced === undefined || change.overwrite, 'I2', 'renamed over a file')
  model.remove(userId, name)
  model.put(userId, { name: newName, file })
  const events: FileEvent[] = []
  if (displaced !== undefined) {
    events.push({ type: 'file.deleted', name: newName, file: displaced })
  }
  if (newName !== name) {
    events.push({ type: 'file.renamed', name: newName, file, previousName: name })
  }
  record(model, { userId, events, clock })
}

/** Only what is past becomes current again, and a restore passes the quota rule (I15). */
export function applyRestore(
  { model, clock, before }: Applied,
  { userId, version, name, overwrite }: Parameters<Ledger['restoreVersion']>[0],
): void {
  const past = before.history.find((row) => row.user_id === userId && row.version === version)
  demand(past !== undefined, 'I15', 'restored a version that is not past')
  const { size, sha256 } = past
  const user = model.user(userId)
  const fileName = name ?? past.name
  const old = user.files.get(fileName)
  demand(user.status === 'active', 'I2', `restored for a user who is ${user.status}`)
  demand(old === undefined || overwrite, 'I2', 'restored over a file')
  const file = { version, size, sha256 }
  model.put(userId, { name: fileName, file })
  record(model, { userId, events: [{ type: 'file.restored', name: fileName, file }], clock })
  assertFits(user, model.user(userId))
}

/** What has grown is within the limits (I5). */
function assertFits(before: ModelUser, after: ModelUser): void {
  const [used, capacity] = [usedBytes(after), capacityOf(after)]
  demand(used <= usedBytes(before) || used <= capacity, 'I5', `used ${used} of ${capacity}`)
  const { size: count } = after.files
  demand(count <= before.files.size || count <= MAX_FILES, 'I5', `${count} files`)
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
