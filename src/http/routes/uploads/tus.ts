import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { AnnouncedAppend, AppendToUpload } from '../../../core/resumable/append/append.ts'
import { mayTellOffset, uploadBusy } from '../../../core/resumable/refusals.ts'
import type { ResumableUpload } from '../../../core/resumable/resumable-ledger.ts'
import type { Appended, ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import { discardBody } from '../../body/discard-body.ts'
import { assertRawBody, openRawBody } from '../../body/raw-body.ts'
import { assertMediaType, bodySize } from '../../headers/content-headers.ts'
import { formatReprDigest, parseReprDigest } from '../../headers/repr-digest.ts'
import type { Operation } from '../../openapi/operation.ts'
import { sendProblem } from '../../server/problem.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { subjectOf } from '../../server/request-subject.ts'
import { tellToContinue } from '../../server/unread-body.ts'
import type { UPLOAD_QUERY } from '../files/upload-query.ts'
import { namedUpload, newUpload, noteOffset, UPLOAD_ACTIONS } from './requested-upload.ts'
import {
  APPEND_MEDIA_TYPE,
  assertTusVersion,
  invalid,
  parseChecksum,
  parseLength,
  parseMetadata,
  parseNewLength,
  parseOffset,
  TUS_VERSION,
} from './tus-headers.ts'

/** tus 1.0.0 (https://tus.io/protocols/resumable-upload), for the subjects of one path. */
export interface TusMount {
  /** Of the collection: a POST creates an upload. The first one is documented. */
  readonly urls: readonly string[]
  /** Of an upload. */
  readonly uploadUrl: string
  readonly operations: Readonly<
    Record<'create' | 'offset' | 'append' | 'cancel' | 'override', Operation>
  >
  /** The methods of an upload, for `Allow`. */
  readonly allow: string
  /** What the query of a creation may say of the file. */
  readonly querystring?: typeof UPLOAD_QUERY
  /** For `Location`. */
  readonly locationOf: (request: FastifyRequest, version: Version) => string
  /** If set, called before an upload is created, and disposed after that. */
  readonly admitCreation?: (request: FastifyRequest) => Promise<Disposable>
  /** If set, called before each append. */
  readonly admitAppend?: (request: FastifyRequest) => Promise<void>
}

/** Adds the routes to a scope that `speakTus` has prepared. */
export function addTusRoutes(
  app: FastifyInstance,
  uploads: ResumableUploads,
  mount: TusMount,
): void {
  const { urls, uploadUrl, operations, querystring } = mount
  const append = appendHandler(uploads, mount)
  const cancel = cancelHandler(uploads)
  const create = createHandler(uploads, mount)
  const schema = querystring === undefined ? {} : { querystring }
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    subjectOf(request, UPLOAD_ACTIONS)
    assertTusVersion(request.headers)
  }
  for (const url of urls) {
    const operation = url === urls[0] ? operations.create : undefined
    app.post(url, { schema, config: { operation }, onRequest }, create)
  }
  app.head(uploadUrl, { config: { operation: operations.offset } }, offsetHandler(uploads))
  app.patch(uploadUrl, { config: { operation: operations.append }, onRequest }, append)
  app.delete(uploadUrl, { config: { operation: operations.cancel }, onRequest }, cancel)
  app.post(
    uploadUrl,
    { config: { operation: operations.override }, onRequest },
    overridden({ append, cancel }, mount),
  )
}

/** Makes every answer of the scope, refusals included, say the version of tus. `told` says what its clients are told. */
export function speakTus(
  app: FastifyInstance,
  told: (error: unknown, request: FastifyRequest) => unknown = (error) => error,
): void {
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' })
  })
  app.setErrorHandler((error, request, reply) =>
    sendTusProblem(told(error, request), request, reply),
  )
}

/** After a 423, tus clients repeat a HEAD. After any other refusal they upload everything again. */
function sendTusProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (isAppError(error, 'tus_version_unsupported')) void reply.header('tus-version', TUS_VERSION)
  if (isAppError(error, 'offset_mismatch')) {
    const offset = Number(error.facts['offset'])
    noteOffset(request, offset)
    void reply.header('upload-offset', offset)
  }
  const isHead = request.method === 'HEAD' && request.headers['tus-resumable'] !== undefined
  if (!isHead || !isAppError(error, 'unavailable')) return sendProblem(error, request, reply)
  request.log.error({ err: error, code: error.code }, 'request failed')
  const { message, cause, dependency } = error
  const facts = { ...error.facts, ...uploadBusy().facts }
  const busy = new AppError('upload_busy', message, {
    cause,
    facts,
    dependency,
  })
  return sendProblem(busy, request, reply)
}

/** For clients that can send neither PATCH nor DELETE, such as Java's HttpURLConnection. */
function overridden(
  { append, cancel }: Record<'append' | 'cancel', Handler>,
  { allow }: TusMount,
): Handler {
  return async (request, reply) => {
    const method = request.headers['x-http-method-override']?.toString().toUpperCase()
    if (method === 'PATCH') return await append(request, reply)
    if (method === 'DELETE') return await cancel(request, reply)
    void reply.header('allow', allow)
    throw new AppError('method_not_allowed', 'POST needs X-HTTP-Method-Override: PATCH or DELETE.')
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const CONCAT =
  'is not supported: send a file as one upload (`parallelUploads: 1` of Uppy and tus-js-client)'

function createHandler(
  uploads: ResumableUploads,
  { admitCreation, locationOf }: TusMount,
): Handler {
  return async (request, reply) => {
    // Until the upload is created, and counts by itself.
    using _ = await admitCreation?.(request)
    const { headers } = request
    if (headers['upload-concat'] !== undefined) {
      throw invalid('Upload-Concat', CONCAT)
    }
    const length = parseNewLength(headers)
    const metadata = parseMetadata(headers)
    const checksum = parseChecksum(headers)
    const hasContent = bodySize(headers) !== 0
    if (hasContent) assertAppendable(headers)
    const target = newUpload(request, metadata)
    const { subject } = target
    const created = await uploads.create({
      ...target,
      length,
      metadata: metadata.header,
      sha256: parseReprDigest(headers['repr-digest']?.toString()),
      hasContent,
      shutdown: request.server.signals.shutdown,
    })
    const { version } = created
    request.upload = { id: version, offset: created.offset }
    void reply.code(201).header('location', locationOf(request, version))
    if (!hasContent) return answerAppend(reply, created)
    const named = { subject, version }
    const append = appendOf(reply, { ...named, offset: 0, checksum })
    try {
      const appended = await uploads.append(append)
      if (appended.cut === 'broken' && append.signal.aborted) throw append.signal.reason
      return answerAppend(reply, appended)
    } catch (error) {
      // The client does not know the URL of the upload.
      await uploads.cancel(named).catch(() => undefined)
      throw error
    }
  }
}

/** Refuses a body before the request can stop a running append. */
function assertAppendable(headers: FastifyRequest['headers']): void {
  assertMediaType(headers, APPEND_MEDIA_TYPE)
  assertRawBody(headers)
}

function appendHandler(uploads: ResumableUploads, { admitAppend }: TusMount): Handler {
  return async (request, reply) => {
    const { headers } = request
    await admitAppend?.(request)
    assertAppendable(headers)
    const offset = parseOffset(headers)
    const append = appendOf(reply, {
      ...(await namedUpload(request, uploads)),
      offset,
      sha256: parseReprDigest(headers['repr-digest']?.toString()),
      length: parseLength(headers),
      checksum: parseChecksum(headers),
    })
    return answerAppend(reply, await uploads.append(append))
  }
}

/** Reads the body when the append has begun; what has arrived counts even if the rest does not come. */
function appendOf(reply: FastifyReply, target: AnnouncedAppend): AppendToUpload {
  const { request } = reply
  return {
    ...target,
    bodySize: bodySize(request.headers),
    open: (stop) => {
      const body = openRawBody(request, { signal: stop, keepsReceived: true })
      tellToContinue(reply)
      return body
    },
    signal: requestSignal(reply),
    shutdown: request.server.signals.shutdown,
  }
}

function answerAppend(reply: FastifyReply, appended: Appended): FastifyReply {
  const { offset, expiresAt, committed } = appended
  if (isLeftUnanswered(reply, appended)) return reply
  void reply.header('upload-offset', offset)
  if (committed === undefined)
    void reply.header('upload-expires', new Date(expiresAt).toUTCString())
  else void reply.header('repr-digest', formatReprDigest(committed.sha256))
  return (reply.statusCode === 201 ? reply : reply.code(204)).send()
}

/**
 * Notes the end of an append for the log. A client whose append was taken over hears nothing, since it has a newer
 * request, or has gone: `true` if the connection was closed.
 */
function isLeftUnanswered(reply: FastifyReply, { offset, cut }: Appended): boolean {
  noteOffset(reply.request, offset)
  if (cut === 'shutdown') void reply.header('connection', 'close')
  if (cut !== 'superseded' && cut !== 'fenced') return false
  reply.request.abortedBy = 'superseded'
  reply.hijack()
  reply.raw.destroy()
  return true
}

function offsetHandler(uploads: ResumableUploads): Handler {
  return async (request, reply) => {
    const named = await namedUpload(request, uploads)
    // Pages of other sites can send a HEAD without this header, so it must change nothing.
    const speaksTus = request.headers['tus-resumable'] !== undefined
    if (speaksTus) assertTusVersion(request.headers)
    const signal = requestSignal(reply)
    const { shutdown } = request.server.signals
    const upload = speaksTus
      ? await uploads.resume({ ...named, signal, shutdown })
      : (await uploads.find(named)).upload
    if (!mayTellOffset(upload)) throw uploadBusy()
    noteOffset(request, upload.offset)
    return tellUpload(reply.code(200), upload).send()
  }
}

function tellUpload(reply: FastifyReply, upload: ResumableUpload): FastifyReply {
  const { offset, length, metadata, expiresAt, state } = upload
  void reply.header('upload-offset', offset).header('upload-metadata', metadata)
  if (state === 'open') void reply.header('upload-expires', new Date(expiresAt).toUTCString())
  return length === undefined
    ? reply.header('upload-defer-length', 1)
    : reply.header('upload-length', length)
}

function cancelHandler(uploads: ResumableUploads): Handler {
  return async (request, reply) => {
    const named = await namedUpload(request, uploads)
    await discardBody(reply)
    await named.subject.reverify()
    await uploads.cancel(named)
    return reply.code(204).send()
  }
}
