import { AppError, isAppError } from '../../../../src/core/errors.ts'
import type { ErrorCode } from '../../../../src/core/error-codes.ts'
import {
  type FileName,
  type FileNamePrefix,
  parseFileNamePrefix,
} from '../../../../src/core/files/file-name.ts'
import {
  membersOf,
  type Metadata,
  type MetadataPatch,
} from '../../../../src/core/files/metadata.ts'
import type { CommittedUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { BatchOperation } from '../../../../src/core/files/operation.ts'
import type { Precondition } from '../../../../src/core/files/precondition.ts'
import { MissingObject, type OpenedFile } from '../../../../src/core/files/open-content.ts'
import type { Repository } from '../../../../src/core/repository.ts'
import type { History } from '../../../../src/core/history/history.ts'
import { versionNotFound } from '../../../../src/core/history/past-version.ts'
import { parseUserId, type UserId } from '../../../../src/core/users/user-id.ts'
import { authorized } from '../../../support/caller.ts'
import { bytesOf } from '../../../support/objects.ts'
import { incomingOf } from './incoming.ts'
import { currentFile, type ModelUser } from '../model/model.ts'
import { contentOf, digest, metadataOf, type Operation } from '../plan/operation.ts'
import { folderOf, nameOf, sizeFor } from '../plan/names.ts'
import { MAX_FILES, MAX_OPERATION_MS } from '../plan/parameters.ts'
import type { CreateAction } from '../plan/resumable-actions.ts'
import type {
  BatchAction,
  FileAction,
  RestoreAction,
  RetainAction,
  UploadAction,
} from '../plan/plan.ts'
import { demand, Violation } from '../model/violation.ts'
import type { Instance, World } from './world.ts'

const USERS = ['alice', 'bob']

export function userIdOf(user: number): UserId {
  return parseUserId(USERS[user % USERS.length] ?? '')
}

/** Has a client ask an instance for something of a file, and holds its answer against the model. */
export function startOperation(world: World, action: FileAction, instance: Instance): void {
  startNamed({ world, instance, fileName: nameOf(action.file) }, action)
}

interface StartNamed {
  readonly world: World
  readonly instance: Instance
  readonly fileName: FileName
}

/** As `startOperation`, for a file that a plan has no number for. */
export function startNamed({ world, instance, fileName }: StartNamed, action: FileAction): void {
  const id = world.operations.length
  const content =
    action.kind === 'upload' ? contentOf(id, sizeFor(fileName, action.size)) : undefined
  const credential = 'credential' in action ? action.credential : undefined
  const deviceId = action.kind === 'upload' ? action.deviceId : undefined
  const userId = userIdOf(action.user)
  const asked = { action, userId, fileName, content, version: undefined, credential, deviceId }
  beginOperation({ world, instance, asked }, (operation) =>
    request({ world, operation, ...instance }, action),
  )
}

interface BeginOperation {
  readonly world: World
  readonly instance: Instance
  readonly asked: Pick<
    Operation,
    'action' | 'userId' | 'fileName' | 'content' | 'version' | 'credential' | 'deviceId'
  >
}

/** Has a client make a request, on behalf of the user who has the id now. */
export function beginOperation(
  { world, instance, asked }: BeginOperation,
  ask: (operation: Operation) => Promise<void>,
): void {
  const { operations, timeline, report, model } = world
  const { process } = instance
  const id = operations.length
  const operation: Operation = {
    ...asked,
    id,
    userCreatedAt: model.user(asked.userId).createdAt,
    process,
    startedAt: timeline.now,
    answer: 'none yet',
    isApplied: false,
    hasEnded: false,
    hasAskedCommit: false,
    append: undefined,
  }
  operations.push(operation)
  timeline.runAs({ process, name: `${asked.action.kind}#${id}`, operation: id }, () => {
    void perform(world, () => ask(operation))
      .then((answer) => settle(world, { operation, answer }))
      .catch(report)
  })
}

interface Client {
  readonly world: World
  readonly operation: Operation
  readonly repository: Repository
  readonly history: History
}

/** What the client is told, with a failure that the port allows told from one that it does not. */
async function perform(world: World, ask: () => Promise<void>): Promise<Operation['answer']> {
  try {
    await ask()
    return 'done'
  } catch (error) {
    if (error instanceof Violation) throw error
    demand(isAppError(error), 'X', `failed with ${String(error)}`)
    demand(error.code !== 'internal_error', 'I3', `failed with ${String(error.cause)}`)
    demand(!(error.cause instanceof MissingObject), 'I3', `failed with ${String(error.cause)}`)
    world.timeline.note(`is told ${error.code}`)
    return UNKNOWN.has(error.code) ? 'unknown' : 'refused'
  }
}

const UNKNOWN: ReadonlySet<ErrorCode> = new Set(['unavailable', 'upload_busy'])

function settle(
  { timeline }: World,
  { operation, answer }: { readonly operation: Operation; readonly answer: Operation['answer'] },
): void {
  timeline.note(`ends: ${answer}`)
  operation.answer = answer
  const { kind } = operation.action
  const isWrite = WRITES.has(kind)
  demand(!isWrite || answer !== 'done' || operation.isApplied, 'I1', 'acknowledged without effect')
  demand(!isWrite || answer !== 'refused' || !operation.isApplied, 'I2', 'refused with effect')
  const tookMs = timeline.now - operation.startedAt
  demand(tookMs <= MAX_OPERATION_MS, 'I9', `took ${tookMs} ms`)
}

const WRITES: ReadonlySet<string> = new Set([
  'upload',
  'remove',
  'rename',
  'restore',
  'retain',
  'batch',
])

async function request(client: Client, action: FileAction): Promise<void> {
  const { operation, repository } = client
  const { userId, fileName: name } = operation
  const caller = authorized(operation)
  switch (action.kind) {
    case 'upload':
      return upload(client, action)
    case 'get':
      return get(client)
    case 'stat':
      await repository.stat({ userId, name, viewer: caller })
      return
    case 'list':
      await repository.list({
        userId,
        viewer: caller,
        prefix: parseFileNamePrefix(''),
        order: 'name',
        after: undefined,
        limit: MAX_FILES,
      })
      return
    case 'remove':
      await repository.remove({ subject: caller, name })
      return
    case 'rename': {
      const newName = nameOf(action.to)
      const { overwrite } = action
      await repository.change({ subject: caller, name, newName, overwrite, visibility: undefined })
      return
    }
    case 'retain': {
      const { isKept, expiresInMs } = action
      // By the clock of the client, which is that of the database.
      const until = expiresInMs && client.world.clock.now() + expiresInMs
      const metadata = metadataPatchOf(action)
      const terms = { isKept, expiresAt: until && Math.trunc(until), metadata }
      const same = { newName: undefined, overwrite: false, visibility: undefined }
      await repository.change({ subject: caller, name, ...same, ...terms })
      return
    }
    case 'restore':
      return restore(client, action)
    case 'batch':
      return batch(client, action)
  }
}

async function batch({ operation, repository, history }: Client, action: BatchAction) {
  const caller = authorized(operation)
  const hasRestore = action.operations.some(({ op }) => op === 'restore')
  const versions = hasRestore ? await pastVersions({ operation, history }) : []
  const operations = action.operations.flatMap((each): readonly BatchOperation[] => {
    const { op, overwrite, ignoresMissing } = each
    const prefix = folderOf(each.folder)
    if (op === 'clear') return [{ op: 'delete-prefix', prefix, ignoresMissing }]
    if (op === 'move') {
      const newPrefix = folderOf(each.toFolder)
      return [{ op: 'rename-prefix', prefix, newPrefix, overwrite, ignoresMissing }]
    }
    const name = nameOf(each.file)
    const newName = op === 'rename' ? nameOf(each.to) : undefined
    const isKept = op === 'keep' ? overwrite : undefined
    if (op === 'remove') return [{ op: 'delete', name, ignoresMissing }]
    if (op === 'restore') {
      const version = versions[each.past % versions.length]?.version
      return version === undefined ? [] : [{ op, version, name, overwrite }]
    }
    const terms = { newName, isKept, overwrite, visibility: undefined }
    return [{ op: 'update', name, ...terms, ignoresMissing }]
  })
  if (operations.length === 0) throw versionNotFound()
  const { files } = await repository.changeAll({ subject: caller, operations })
  demand(files.length === operations.length, 'I1', 'answered other operations')
}

async function pastVersions({ operation, history }: Pick<Client, 'operation' | 'history'>) {
  const { versions } = await history.list({
    subject: authorized(operation),
    name: undefined,
    prefix: parseFileNamePrefix(''),
    after: undefined,
    limit: MAX_LISTED,
  })
  return versions
}

async function restore(client: Client, { past, overwrite }: RestoreAction): Promise<void> {
  const { operation, history } = client
  const { fileName: name } = operation
  const caller = authorized(operation)
  const versions = await pastVersions(client)
  const chosen = versions[past % versions.length]
  if (chosen === undefined) throw versionNotFound()
  const { version } = chosen
  const { file } = await history.restore({
    subject: caller,
    version,
    name,
    overwrite,
    precondition: undefined,
  })
  demand(file.version === version, 'I1', 'restored as another version')
}

const MAX_LISTED = 10

async function upload(
  { world, operation, repository }: Client,
  action: UploadAction,
): Promise<void> {
  const { timeline, random } = world
  const { fileName: name, content } = operation
  const leaving = new AbortController()
  if (action.client === 'leaves') {
    const gone = new AppError('truncated_body', 'The client closed the connection.')
    const run = (): void => leaving.abort(gone)
    timeline.add({ after: random.below(100), label: 'client leaves', run })
  }
  const answer: CommittedUpload = await repository.upload({
    subject: authorized(operation),
    name,
    visibility: () => undefined,
    metadata: () => sentMetadata(action),
    sha256: digestOf(action, content?.sha256),
    precondition: preconditionOf(action),
    evict: prefixOf(action),
    expiresInMs: action.expiresInMs,
    incoming: incomingOf(world, { operation, action }),
    signal: leaving.signal,
  })
  const { file } = answer
  demand(file.version === operation.version, 'I1', 'acknowledged another version')
  demand(file.sha256 === content?.sha256, 'I1', 'acknowledged another digest')
}

type Demanding = Pick<UploadAction | CreateAction, 'demands'>

export function digestOf({ demands }: Demanding, sha256: string | undefined): string | undefined {
  if (demands === 'wrong digest') return digest(Buffer.from('another content'))
  return demands === 'right digest' ? sha256 : undefined
}

export function sentMetadata({
  metadataBytes: bytes,
}: Pick<UploadAction, 'metadataBytes'>): Metadata | undefined {
  return bytes === undefined ? undefined : metadataOf(bytes)
}

function metadataPatchOf(action: RetainAction): MetadataPatch | undefined {
  const metadata = sentMetadata(action)
  if (metadata === undefined) return undefined
  return action.metadataBytes === 0 ? null : membersOf(metadata)
}

export function prefixOf({ evict }: Pick<UploadAction, 'evict'>): FileNamePrefix | undefined {
  return evict === undefined ? undefined : parseFileNamePrefix(evict)
}

export function preconditionOf({ demands }: Demanding): Precondition | undefined {
  if (demands === 'no file') return { ifNoneMatch: '*' }
  if (demands === 'a file') return { ifMatch: '*' }
  return undefined
}

async function get({ world, operation, repository }: Client): Promise<void> {
  const { clock, model, timeline, random } = world
  const { userId, fileName: name, startedAt } = operation
  const since = model.now()
  const past = (): readonly ModelUser[] => model.since(userId, since)
  let opened: OpenedFile
  try {
    const signal = new AbortController().signal
    opened = await repository.open({ userId, name, viewer: authorized(operation), signal })
  } catch (error) {
    const { most: now } = clock.shownSince(startedAt)
    const mayBeMissing = past().some(
      (user) => user.status !== 'active' || !currentFile(user, { name, now }),
    )
    demand(!isAppError(error, 'not_found') || mayBeMissing, 'I1', `${name} was not found`)
    throw error
  }
  const { file, body } = opened
  const { least: now } = clock.shownSince(startedAt)
  const isKnown = past().some((user) => currentFile(user, { name, now })?.version === file.version)
  demand(isKnown, 'I1', `${name} was read as ${file.version}`)
  // Some readers dawdle; what they opened has to stay (I1), whatever becomes of the file.
  if (random.chance(0.2)) await timeline.wait(random.below(1_000_000), 'client reads on')
  const bytes = await bytesOf(body)
  demand(digest(bytes) === file.sha256, 'I1', `${name} was read with other bytes`)
}
