import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import type { AnnouncedAppend, AppendToUpload } from '../../../core/resumable/append/append.ts'
import { mayTellOffset, uploadBusy } from '../../../core/resumable/refusals.ts'
import type { ResumableUpload } from '../../../core/resumable/resumable-ledger.ts'
import type { Appended, ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import { discardBody } from '../../body/discard-body.ts'
import { assertRawBody, openRawBody } from '../../body/raw-body.ts'
import { assertMediaType, bodySize } from '../../headers/content-headers.ts'
import { formatReprDigest, parseReprDigest } from '../../headers/repr-digest.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { tellToContinue } from '../../server/unread-body.ts'
import { UPLOAD_QUERY } from '../files/file-upload.ts'
import type { UserRoutes } from '../user-routes.ts'
import * as operations from './operations.ts'
import {
  APPEND_MEDIA_TYPE,
  assertTusVersion,
  CHECKSUM_ALGORITHMS,
  invalid,
  parseChecksum,
  parseLength,
  parseMetadata,
  parseNewLength,
  parseOffset,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from './tus-headers.ts'
import {
  noteOffset,
  ownUploads,
  UPLOAD_PATH,
  type UploadAccess,
  UPLOADS_PATH,
} from './upload-access.ts'

/** tus 1.0.0. */
export const tusRoutes: UserRoutes = async (app, { useCases: { uploads }, basePath, limits }) => {
  const access = ownUploads(uploads, basePath)
  const handlers = tusHandlers(uploads, access)
  const { refuseOtherVersions: onRequest, create, append, cancel } = handlers
  const headers = {
    'tus-version': TUS_VERSION,
    'tus-max-size': limits.maxFileSize,
    'tus-extension': TUS_EXTENSIONS,
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  }
  const preflightMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const
  const config = { preflightMethods, operation: operations.DISCOVER }
  app.options(UPLOADS_PATH, { config }, async (_request, reply) =>
    reply.code(204).headers(headers).send(),
  )
  for (const url of [UPLOADS_PATH, `${UPLOADS_PATH}/`]) {
    const operation = url === UPLOADS_PATH ? operations.CREATE : undefined
    const schema = { querystring: UPLOAD_QUERY }
    app.post(url, { schema, config: { operation }, onRequest }, create)
  }
  app.head(UPLOAD_PATH, { config: { operation: operations.OFFSET } }, handlers.offset)
  app.patch(UPLOAD_PATH, { config: { operation: operations.APPEND }, onRequest }, append)
  app.delete(UPLOAD_PATH, { config: { operation: operations.CANCEL }, onRequest }, cancel)
  app.post(
    UPLOAD_PATH,
    { config: { operation: operations.OVERRIDE }, onRequest },
    overridden({ append, cancel }, 'GET, HEAD, PATCH, DELETE'),
  )
}

/** For clients that can send neither PATCH nor DELETE, such as Java's HttpURLConnection. */
export function overridden(
  { append, cancel }: Record<'append' | 'cancel', Handler>,
  allow: string,
): Handler {
  return async (request, reply) => {
    const method = request.headers['x-http-method-override']?.toString().toUpperCase()
    if (method === 'PATCH') return await append(request, reply)
    if (method === 'DELETE') return await cancel(request, reply)
    void reply.header('allow', allow)
    throw new AppError('method_not_allowed', 'POST needs X-HTTP-Method-Override: PATCH or DELETE.')
  }
}

export function tusHandlers(uploads: ResumableUploads, access: UploadAccess) {
  return {
    /** An `onRequest` hook. */
    refuseOtherVersions: async (request: FastifyRequest): Promise<void> => {
      access.assert(request)
      assertTusVersion(request.headers)
    },
    create: createHandler(uploads, access),
    append: appendHandler(uploads, access),
    offset: offsetHandler(uploads, access),
    cancel: cancelHandler(uploads, access),
  }
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const CONCAT =
  'is not supported: send a file as one upload (`parallelUploads: 1` of Uppy and tus-js-client)'

function createHandler(uploads: ResumableUploads, access: UploadAccess) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request
    if (headers['upload-concat'] !== undefined) {
      throw invalid('Upload-Concat', CONCAT)
    }
    const length = parseNewLength(headers)
    const metadata = parseMetadata(headers)
    const checksum = parseChecksum(headers)
    const hasContent = bodySize(headers) !== 0
    if (hasContent) assertAppendable(headers)
    const target = access.create(request, metadata)
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
    void reply.code(201).header('location', access.locationOf(request, version))
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

function appendHandler(uploads: ResumableUploads, access: UploadAccess) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request
    assertAppendable(headers)
    const offset = parseOffset(headers)
    const append = appendOf(reply, {
      ...(await access.find(request)),
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

function offsetHandler(uploads: ResumableUploads, access: UploadAccess) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const named = await access.find(request)
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

function cancelHandler(uploads: ResumableUploads, access: UploadAccess) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const named = await access.find(request)
    await discardBody(reply)
    await named.subject.reverify()
    await uploads.cancel(named)
    return reply.code(204).send()
  }
}
