import { createHash } from 'node:crypto'
import { AppError, isAppError } from '../../../../src/core/errors.ts'
import { nameOf, sizeFor } from '../plan/names.ts'
import type { Appended } from '../../../../src/core/resumable/resumable-uploads.ts'
import { authorized } from '../../../support/caller.ts'
import { never } from '../../../support/objects.ts'
import { isCommitted, type ModelUpload } from '../model/model-upload.ts'
import { assertRefusal, tell, tellReached } from '../model/told.ts'
import { demand } from '../model/violation.ts'
import { contentOf, type Operation } from '../plan/operation.ts'
import type { AppendAction, CreateAction, NamedUploadAction } from '../plan/resumable-actions.ts'
import { appendBodyOf, EXCESS } from './append-body.ts'
import {
  beginOperation,
  digestOf,
  preconditionOf,
  prefixOf,
  sentMetadata,
  userIdOf,
} from './client.ts'
import { askWhichToStop } from './stop-requests.ts'
import type { Instance, World } from './world.ts'

/** Has a client create an upload, with content at once if the action says so. */
export function startCreation(world: World, action: CreateAction, instance: Instance): void {
  const fileName = nameOf(action.file)
  const content = contentOf(world.operations.length, sizeFor(fileName, action.size))
  const { credential, deviceId } = action
  const userId = userIdOf(action.user)
  const asked = { action, userId, fileName, content, version: undefined, credential, deviceId }
  beginOperation({ world, instance, asked }, async (operation) => {
    const upload = await create({ world, instance, operation }, action)
    world.model.knownUploads.push(upload)
  })
}

/** Has a client append to an upload that a client knows, if there is one. */
export function startAppend(world: World, action: AppendAction, instance: Instance): void {
  startKnown({ world, action, instance }, async (client, upload) => {
    if (action.asks && (await resume(client, upload)) === 'finished') return
    await append(client, upload, action)
  })
}

export function startNamed(world: World, action: NamedUploadAction, instance: Instance): void {
  startKnown({ world, action, instance }, async (client, upload) => {
    if (action.kind === 'head') await resume(client, upload)
    else await cancel(client, upload)
  })
}

interface StartKnown {
  readonly world: World
  readonly action: AppendAction | NamedUploadAction
  readonly instance: Instance
}

function startKnown(
  { world, action, instance }: StartKnown,
  ask: (client: Client, upload: ModelUpload) => Promise<void>,
): void {
  const { knownUploads } = world.model
  const upload = knownUploads.at(-1 - (action.upload % Math.max(1, knownUploads.length)))
  if (upload === undefined) return
  const { userId, fileName, version, credential } = upload
  // The file belongs to the device that created the upload, whoever appends.
  const told = { content: undefined, deviceId: undefined }
  const asked = { ...told, action, userId, fileName, version, credential }
  beginOperation({ world, instance, asked }, async (operation) => {
    const wasPending = upload.state === 'pending'
    try {
      await ask({ world, instance, operation }, upload)
    } catch (error) {
      assertRefusal(world, { upload, operation, wasPending, error })
      throw error
    }
  })
}

interface Client {
  readonly world: World
  readonly instance: Instance
  readonly operation: Operation
}

/** As the routes have it: an upload whose content breaks off is cancelled, since nobody was told where it is. */
async function create(client: Client, action: CreateAction): Promise<ModelUpload> {
  const { world, instance, operation } = client
  const { fileName: name, content } = operation
  const { uploads } = instance
  const caller = authorized(operation)
  const created = await uploads.create({
    subject: caller,
    name,
    length: action.isDeferred ? undefined : action.size,
    metadata: metadataHeader({ filename: name, metadata: sentMetadata(action) }),
    visibility: undefined,
    precondition: preconditionOf(action),
    evict: prefixOf(action),
    expiresInMs: action.expiresInMs,
    sha256: digestOf(action, content?.sha256),
    hasContent: action.bytes > 0,
    shutdown: never(),
  })
  const { version } = created
  const upload = world.model.uploads.get(version)
  demand(upload !== undefined, 'I1', 'told of an upload that does not exist')
  if (action.bytes === 0) {
    tellReached(upload, { offset: created.offset, length: upload.length, least: 0 })
    return upload
  }
  try {
    const { client: behaviour, bytes } = action
    const sent = { ...BY_CREATION, process: action.process, bytes, client: behaviour }
    const { cut } = await append(client, upload, sent)
    if (cut === 'broken' && behaviour === 'breaks off') {
      throw new AppError('truncated_body', 'The body broke off.')
    }
    return upload
  } catch (error) {
    await uploads.cancel({ subject: caller, version }).catch(() => undefined)
    throw error
  }
}

/** An append in the request that creates the upload. */
const BY_CREATION = {
  kind: 'append',
  upload: 0,
  asks: false,
  isSized: true,
  declares: false,
  checksum: 'none',
  isForeign: false,
  twin: 'none',
} as const satisfies Partial<AppendAction>

async function append(
  { world, instance, operation }: Client,
  upload: ModelUpload,
  action: AppendAction,
): Promise<Appended> {
  const { version, told: offset, isDeferred } = upload
  const { client, isSized } = action
  const sent = contentToSend(operation, upload, action)
  operation.append = sent
  const length = isDeferred && action.declares ? upload.content.bytes.length : undefined
  const known = length ?? upload.length
  instance.appends.add(operation)
  askWhichToStop(world, instance)
  try {
    const appended = await instance.uploads.append({
      subject: authorized(operation),
      version,
      offset,
      length,
      bodySize: isSized ? sent.bytes.length : undefined,
      checksum: checksumOf(action, sent.bytes),
      open: (stop) => appendBodyOf(world, { append: sent, client, isSized, stop }),
      signal: never(),
      shutdown: never(),
    })
    const { cut, committed } = appended
    // Its connection is closed without an answer.
    if (cut === 'superseded' || cut === 'fenced') throw new AppError('unavailable', 'Superseded.')
    tellReached(upload, { offset: appended.offset, length: known, least: offset })
    demand(committed === undefined || isCommitted(upload), 'I1', 'finished without a file')
    return appended
  } catch (error) {
    if (isAppError(error, 'offset_mismatch')) {
      tell(upload, { offset: Number(error.facts['offset']), least: offset })
    }
    throw error
  } finally {
    instance.appends.delete(operation)
  }
}

function contentToSend(operation: Operation, upload: ModelUpload, action: AppendAction) {
  const { content, told: from, isDeferred } = upload
  const { bytes, checksum, client, isForeign } = action
  const source = isForeign ? contentOf(operation.id, content.bytes.length) : content
  if (isForeign) upload.isMixed = true
  const isBounded = !isDeferred || action.declares || upload.length !== undefined
  const isTooMuch = client === 'sends too much' && isBounded
  const rest = source.bytes.subarray(from)
  return {
    from,
    bytes: isTooMuch ? Buffer.concat([rest, EXCESS]) : rest.subarray(0, bytes),
    sent: 0,
    isGood: checksum !== 'wrong',
  }
}

function checksumOf({ checksum }: AppendAction, bytes: Buffer) {
  if (checksum === 'none') return undefined
  const sent = checksum === 'right' ? bytes : Buffer.from('other bytes')
  return { algorithm: 'sha1', digest: createHash('sha1').update(sent).digest('base64') } as const
}

function metadataHeader(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .flatMap(([key, text]) => (text ? [`${key} ${Buffer.from(text).toString('base64')}`] : []))
    .join(',')
}

async function resume(
  { instance, operation }: Client,
  upload: ModelUpload,
): Promise<'finished' | 'open'> {
  const { version, told: least } = upload
  const named = { subject: authorized(operation), version, signal: never(), shutdown: never() }
  const found = await instance.uploads.resume(named)
  tellReached(upload, { offset: found.offset, length: found.length, least })
  return found.state === 'finished' ? 'finished' : 'open'
}

async function cancel({ instance, operation }: Client, upload: ModelUpload): Promise<void> {
  await instance.uploads.cancel({ subject: authorized(operation), version: upload.version })
  demand(upload.state === 'aborted', 'I2', 'cancelled, but it can still become a file')
}
