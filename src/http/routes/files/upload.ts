import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
} from 'fastify'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import type { Subject } from '../../../core/auth/subject.ts'
import { invalidParameter } from '../../../core/errors.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { bodyMediaTypeOf } from '../../../core/files/media-type.ts'
import { type Metadata, parseMetadata } from '../../../core/files/metadata.ts'
import type { Repository } from '../../../core/repository.ts'
import type { UploadTarget } from '../../../core/uploads/upload.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { assertWholeFile, receivedContentType } from '../../headers/content-headers.ts'
import { parseFileMetadata } from '../../headers/file-metadata.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { type FileForm, minFileSize, openFileForm } from '../../multipart/file-form.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'
import { namedFile } from './file-resource.ts'
import { askedRetention, askedVisibility, permittedVisibility } from './upload-query.ts'

interface UploadMount {
  readonly url: string
  /** Of a POST with a form. */
  readonly form: UploadRoute
  /** Of a PUT, whose body is the file. */
  readonly body: UploadRoute
  /** If set, called before a file is stored, and disposed after that. */
  readonly admit?: (request: FastifyRequest) => Promise<Disposable>
}

interface UploadRoute {
  readonly schema: FastifySchema
  readonly config: FastifyContextConfig
  /** What the subject is told. */
  readonly show: (reply: FastifyReply, subject: Subject, committed: CommittedUpload) => object
}

/** Adds the routes that store a whole file under the name in the path. */
export function addUploads(
  app: FastifyInstance,
  repository: Repository,
  { url, form, body, admit }: UploadMount,
): void {
  const storing =
    (receive: typeof receiveForm, { show }: UploadRoute) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
      const sent = sentFile(request)
      using _ = admit === undefined ? undefined : await admit(request)
      return show(reply, sent.target.subject, await receive(reply, repository, sent))
    }
  app.post(url, { schema: form.schema, config: form.config }, storing(receiveForm, form))
  const { schema, config } = body
  const onRequest = ignoreContentType
  app.put(url, { schema, config, onRequest }, storing(receiveBody, body))
}

/** What the head of an upload says about the file. */
interface SentFile {
  readonly target: UploadTarget
  readonly visibility: Visibility | undefined
  readonly metadata: Metadata | undefined
}

/**
 * Throws as the parsers of its parts do. What the visitor of a link says of the file, besides its name and its digest, is
 * ignored.
 */
function sentFile(request: FastifyRequest): SentFile {
  const { headers } = request
  const { subject, name } = namedFile(request, ['create', 'replace'])
  assertWholeFile(headers)
  if (subject.kind === 'visitor') {
    const sha256 = parseReprDigest(headers['repr-digest']?.toString())
    const precondition = narrowPrecondition(subject, undefined)
    const target = { subject, name, precondition, sha256 }
    return { target, visibility: undefined, metadata: undefined }
  }
  const { evict, expiresInMs } = askedRetention(request, subject)
  const precondition = narrowPrecondition(subject, parseWritePrecondition(headers))
  const sha256 = parseReprDigest(headers['repr-digest']?.toString())
  return {
    target: { subject, name, evict, expiresInMs, precondition, sha256 },
    visibility: askedVisibility(request, subject),
    metadata: parseFileMetadata(headers),
  }
}

/** Stores the file of a form. See `UploadFile` for when the functions are called. */
async function receiveForm(
  reply: FastifyReply,
  repository: Repository,
  sent: SentFile,
): Promise<CommittedUpload> {
  const { target } = sent
  const { request } = reply
  const signal = requestSignal(reply)
  async function onStart(): Promise<void> {
    await repository.admit({ ...target, min: minFileSize(request.headers) })
    tellToContinue(reply)
  }
  using incoming = await openFileForm(request, {
    signal,
    onStart: expectsContinue(request) ? onStart : undefined,
  })
  return await repository.upload({
    ...target,
    visibility: () => visibilityIn(incoming, sent),
    mediaType: incoming.mediaType,
    metadata: () => metadataIn(incoming, sent),
    incoming,
    signal,
  })
}

function visibilityIn(form: FileForm, { target, visibility }: SentFile): Visibility | undefined {
  const { subject } = target
  if (subject.kind === 'visitor') return undefined
  const field = permittedVisibility(subject, parseVisibility(form.field('visibility')))
  return agree(VISIBILITY, [visibility, field])
}

function metadataIn(form: FileForm, { target, metadata }: SentFile): Metadata | undefined {
  if (target.subject.kind === 'visitor') return undefined
  const text = form.field('metadata')
  return agree(METADATA, [metadata, text === undefined ? undefined : parseMetadata(text)])
}

const VISIBILITY = { field: 'visibility', other: 'The query parameter "visibility"' }
const METADATA = { field: 'metadata', other: 'The header File-Metadata' }

/** The value that both have, or that only one has. */
function agree<T extends string>(
  { field, other }: typeof VISIBILITY,
  [first, second]: readonly [T | undefined, T | undefined],
): T | undefined {
  if (first === undefined || second === undefined || first === second) return first ?? second
  throw invalidParameter(field, `${other} and the form field "${field}" have different values.`)
}

/** Stores the body as the file. */
async function receiveBody(
  reply: FastifyReply,
  repository: Repository,
  { target, visibility, metadata }: SentFile,
): Promise<CommittedUpload> {
  const { request } = reply
  const signal = requestSignal(reply)
  using incoming = openRawBody(request, { signal })
  if (expectsContinue(request)) {
    await repository.admit({ ...target, min: incoming.size.min })
    tellToContinue(reply)
  }
  return await repository.upload({
    ...target,
    visibility: () => visibility,
    mediaType: bodyMediaTypeOf(receivedContentType(request.raw)),
    metadata: () => metadata,
    incoming,
    signal,
  })
}

/** An `onRequest` hook for `receiveBody`, because a malformed type is no error. */
async function ignoreContentType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}
