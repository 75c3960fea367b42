import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ERROR_KINDS } from '../../../core/error-codes.ts'
import { formatError, invalidParameter, isAppError } from '../../../core/errors.ts'
import { bodyMediaTypeOf } from '../../../core/files/media-type.ts'
import { formatUploadMetadata } from '../../../core/resumable/upload-metadata.ts'
import { assertRawBody } from '../../body/raw-body.ts'
import { bodySize, receivedContentType } from '../../headers/content-headers.ts'
import { parseFileMetadata } from '../../headers/file-metadata.ts'
import { sendProblem } from '../../server/problem.ts'
import { fileNameParam } from '../../shared-routes/file-resource.ts'
import { type FileRouteOptions, OWN_FILE_PATH } from '../files/file-resource.ts'
import { askedVisibility, type committedFile, uploadTarget } from '../files/file-upload.ts'
import type { ResumableRouteOptions } from '../uploads/routes.ts'
import { UPLOADS_PATH } from '../uploads/upload-path.ts'
import { acknowledge, replyToAppend, sendFile } from './append.ts'
import {
  completeness,
  INTEROP_VERSION,
  isInteropVersion,
  limitHeader,
  PARTIAL_MEDIA_TYPE,
  parseContent,
} from './draft-headers.ts'
import { sendDraftProblem } from './draft-problems.ts'
import { DISCOVER } from './operations.ts'

export interface CreationOptions extends ResumableRouteOptions, FileRouteOptions {
  /** Whether no proxy in front breaks on them. */
  readonly interimResponses: boolean
}

/** Section "Upload Limits". */
export function discovery(app: FastifyInstance, { maxFileSize }: CreationOptions): void {
  const headers = {
    'upload-draft-interop-version': INTEROP_VERSION,
    'accept-patch': PARTIAL_MEDIA_TYPE,
    ...limitHeader(maxFileSize),
  }
  app.options(OWN_FILE_PATH, { config: DISCOVER }, async (request, reply) => {
    fileNameParam((request.params as { readonly file_name: string }).file_name)
    return reply.code(204).headers(headers).send()
  })
}

type Store = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<ReturnType<typeof committedFile>>

/** Section "Upload Creation": a file, or its first part, sent to the path of the file. */
export function orCreation(options: CreationOptions, plain: Store) {
  return {
    errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply) {
      const send = isCreation(request, options) ? sendDraftProblem : sendProblem
      void send(error, request, reply)
    },
    async handler(request: FastifyRequest, reply: FastifyReply) {
      if (!isCreation(request, options)) return await plain(request, reply)
      try {
        return await create(request, reply, options)
      } catch (error) {
        const isPlain = request.method === 'PUT' && completeness(request.headers) === true
        // A conventional upload needs none of these.
        if (!isPlain || !isAppError(error, 'unfinished_uploads_exceeded') || request.upload)
          throw error
        void reply.header('upload-complete', '?1')
        return await plain(request, reply)
      }
    },
  }
}

/**
 * What is not said to be a whole file is never a plain upload, in any version of either protocol: a part would be
 * stored as the file. A whole file that would get no 104 could not be resumed, so it is a plain upload, as is a whole
 * form.
 */
function isCreation(
  { method, headers, raw }: FastifyRequest,
  { interimResponses }: CreationOptions,
): boolean {
  if (headers['upload-complete'] === undefined) return false
  if (completeness(headers) !== true) return true
  if (!isInteropVersion(headers)) return false
  return method === 'POST' ? !isForm(headers) : interimResponses && raw.httpVersion === '1.1'
}

function isForm({ 'content-type': type = '' }: FastifyRequest['headers']): boolean {
  return /^\s*multipart\/form-data\b/i.test(type)
}

async function create(request: FastifyRequest, reply: FastifyReply, options: CreationOptions) {
  const { headers } = request
  const { uploads, basePath, maxFileSize, idleTimeoutMs, shutdown } = options
  const target = uploadTarget(request)
  const mediaType = bodyMediaTypeOf(receivedContentType(request.raw))
  const description = { mediaType, metadata: parseFileMetadata(headers) }
  const { userId, userCreatedAt, credential, reverify } = target
  const { isLast, length, checksum } = parseContent(headers, 0)
  assertCreation(headers)
  const hasContent = bodySize(headers) !== 0
  const created = await uploads.create({
    ...target,
    length,
    visibility: askedVisibility(request, target),
    metadata: formatUploadMetadata(target.name, description),
    hasContent,
    shutdown,
  })
  const { version, expiresAt, committed } = created
  request.upload = { id: version, offset: 0 }
  const named = { userId, userCreatedAt, credential, reverify, version }
  const location = `${basePath}${UPLOADS_PATH}/${version}`
  const draft = { 'upload-draft-interop-version': INTEROP_VERSION }
  void reply.headers({ ...draft, 'cache-control': 'no-store' })
  const { raw } = reply
  const isTold = options.interimResponses && request.raw.httpVersion === '1.1' && !raw.destroyed
  if (isTold) {
    raw.writeInformation(104, { ...draft, location, ...limitHeader(maxFileSize, expiresAt) })
  }
  if (isLast && committed !== undefined) return await sendFile(reply, named, uploads)
  if (!hasContent) return acknowledge(reply, created, { maxFileSize, location })
  const append = { ...named, offset: 0, length, checksum, idleTimeoutMs, shutdown }
  try {
    return await replyToAppend(reply, append, { uploads, maxFileSize, isLast, location })
  } catch (error) {
    // The client does not know the URL, or will not come back.
    if (!isTold || endsUpload(error)) await uploads.cancel(named).catch(() => undefined)
    throw error
  }
}

/** A client that was told the URL comes back after a 5xx, and may have come back after the others. */
function endsUpload(error: unknown): boolean {
  if (!isAppError(error) || LEFT.has(error.code)) return false
  const { status } = ERROR_KINDS[error.code]
  return status < 500 && ![409, 410, 423].includes(status)
}

/** The body broke off: a client that left resumes. */
const LEFT = new Set(['truncated_body', 'request_timeout'])

function assertCreation(headers: FastifyRequest['headers']): void {
  if (!isInteropVersion(headers)) {
    const detail = `A part of a file needs the header Upload-Draft-Interop-Version: ${INTEROP_VERSION}.`
    throw invalidParameter('Upload-Draft-Interop-Version', detail)
  }
  if (isForm(headers)) throw formatError('A form must be sent in one request.')
  assertRawBody(headers)
}
