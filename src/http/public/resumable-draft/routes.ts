import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/errors.ts'
import type { NamedResumable } from '../../../core/uploads/resumable/resumable-ledger.ts'
import type { ResumableUploads } from '../../../core/uploads/resumable/resumable-uploads.ts'
import { discardBody } from '../../body/discard-body.ts'
import { assertRawBody } from '../../body/raw-body.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { requireUser } from '../access-token.ts'
import { fileNameParam, OWN_FILE_PATH } from '../file-resource.ts'
import { UPLOAD_QUERY, UploadedFile } from '../file-upload.ts'
import type { ResumableRouteOptions } from '../resumable/routes.ts'
import { noteOffset, UPLOAD_PATH, uploadId } from '../resumable/upload-path.ts'
import { ignoreContentType } from '../routes/upload.ts'
import { replyToAppend } from './append-reply.ts'
import { type CreationOptions, creationHandler } from './creation.ts'
import {
  assertPartialUpload,
  INTEROP_VERSION,
  limitHeader,
  PARTIAL_MEDIA_TYPE,
  parseComplete,
  parseContentDigest,
  parseLength,
  parseOffset,
} from './draft-headers.ts'
import { draftProblem, sendDraftProblem } from './draft-problems.ts'
import * as operations from './operations.ts'
import { chooseProtocol, SPEAKS_DRAFT } from './protocol-choice.ts'

/**
 * "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, interop version 8) over `ResumableUploads`. The
 * upload resource is that of tus, at the same path.
 */
export async function resumableDraftRoutes(
  app: FastifyInstance,
  options: CreationOptions,
): Promise<void> {
  chooseProtocol(app, options)
  app.setErrorHandler(sendDraftProblem(options))
  app.addHook('onSend', async (_request, reply) => {
    const version = { 'upload-draft-interop-version': INTEROP_VERSION }
    void reply.headers({ ...version, 'cache-control': 'no-store' })
  })
  const constraints = SPEAKS_DRAFT
  const response = { 200: UploadedFile }
  const create = { constraints, schema: { querystring: UPLOAD_QUERY, response } }
  app.post(OWN_FILE_PATH, create, creationHandler(options))
  app.put(OWN_FILE_PATH, { ...create, onRequest: ignoreContentType }, creationHandler(options))
  app.patch(UPLOAD_PATH, { constraints, schema: { response } }, appendHandler(options))
  app.head(UPLOAD_PATH, { constraints }, offsetHandler(options))
  app.get(UPLOAD_PATH, { constraints }, offsetHandler(options))
  app.delete(UPLOAD_PATH, { constraints }, cancelHandler(options))
  const discovery = { ...limitHeader(options), 'accept-patch': PARTIAL_MEDIA_TYPE }
  const discover = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(204).headers(discovery).send()
  app.options<OwnFileParams>(
    OWN_FILE_PATH,
    { constraints, config: operations.DISCOVER },
    async (request, reply) => {
      fileNameParam(request.params.file_name)
      return discover(request, reply)
    },
  )
  app.options(UPLOAD_PATH, { constraints }, discover)
}

interface OwnFileParams {
  readonly Params: { readonly file_name: string }
}

/** Section "Upload Append". */
function appendHandler(options: CreationOptions) {
  const { uploads, idleTimeoutMs, shutdown } = options
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request
    const named = { ...requireUser(request), version: uploadId(request) }
    assertPartialUpload(headers)
    assertRawBody(headers)
    const isLast = parseComplete(headers)
    const offset = parseOffset(headers)
    const length = parseLength(headers, { offset, isLast })
    const sha256 = parseReprDigest(headers['repr-digest']?.toString())
    const checksum = parseContentDigest(headers)
    const target = { ...named, offset, length, sha256, checksum, idleTimeoutMs, shutdown }
    try {
      return await replyToAppend({ request, reply }, target, { ...options, isLast })
    } catch (error) {
      if (isAppError(error, 'upload_length_exceeded')) await invalidate(uploads, named)
      throw draftProblem(error)
    }
  }
}

/** The draft ends an upload whose content goes beyond its length, unless all its bytes are there. */
async function invalidate(uploads: ResumableUploads, named: NamedResumable): Promise<void> {
  try {
    const { upload } = await uploads.find(named)
    if (upload.state === 'open') await uploads.cancel(named)
  } catch (error) {
    if (!isAppError(error)) throw error
  }
}

/** Section "Offset Retrieval". A `GET` has no content. */
function offsetHandler({ uploads, maxFileSize, shutdown }: ResumableRouteOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const named = { ...requireUser(request), version: uploadId(request) }
    const signal = requestSignal(reply, shutdown)
    const upload = await uploads
      .resume({ ...named, signal, shutdown, keepsOpen: true })
      .catch((error: unknown) => {
        throw draftProblem(error)
      })
    const { offset, length, state, expiresAt } = upload
    noteOffset(request, offset)
    const isFinished = state === 'finished'
    void reply.headers({
      'upload-offset': offset,
      'upload-complete': isFinished ? '?1' : '?0',
      ...(length !== undefined && { 'upload-length': length }),
      ...limitHeader({ maxFileSize, expiresAt: isFinished ? undefined : expiresAt }),
    })
    return reply.code(204).send()
  }
}

/** Section "Upload Cancellation". */
function cancelHandler({ uploads, idleTimeoutMs, shutdown: signal }: ResumableRouteOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const named = { ...requireUser(request), version: uploadId(request) }
    await discardBody({ request, reply }, { signal, idleTimeoutMs })
    await uploads.cancel(named).catch((error: unknown) => {
      throw draftProblem(error)
    })
    return reply.code(204).send()
  }
}
