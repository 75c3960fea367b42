import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatError, invalidParameter, isAppError } from '../../../core/errors.ts'
import { nameMetadata } from '../../../core/uploads/resumable/finished-upload.ts'
import { assertRawBody } from '../../body/raw-body.ts'
import { bodySize } from '../../headers/content-headers.ts'
import type { FileRouteOptions } from '../file-resource.ts'
import { askedVisibility, uploadTarget } from '../file-upload.ts'
import type { ResumableRouteOptions } from '../resumable/routes.ts'
import { UPLOADS_PATH } from '../resumable/upload-path.ts'
import { storeBody } from '../routes/upload.ts'
import { acknowledge, replyToAppend, sendFile } from './append-reply.ts'
import {
  INTEROP_VERSION,
  interopVersion,
  limitHeader,
  parseComplete,
  parseContentDigest,
  parseLength,
} from './draft-headers.ts'
import { draftProblem, endsUpload } from './draft-problems.ts'
import { type InterimOptions, sendInterim } from './interim-responses.ts'
import { isForm } from './protocol-choice.ts'

export type CreationOptions = ResumableRouteOptions & FileRouteOptions & InterimOptions

/** Section "Upload Creation": a file, or its first part, sent to the path of the file. */
export function creationHandler(options: CreationOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request
    const target = uploadTarget(request)
    const isLast = parseComplete(headers)
    assertCreation(request)
    const length = parseLength(headers, { offset: 0, isLast })
    const checksum = parseContentDigest(headers)
    const creation = { ...target, length, isLast, visibility: askedVisibility(request) }
    try {
      const created = await create(request, creation, options)
      return await replyToCreation(
        { request, reply },
        { ...creation, ...created, checksum },
        options,
      )
    } catch (error) {
      // A conventional upload needs none of these.
      const isPlain = isLast && request.method === 'PUT' && request.upload === null
      if (isPlain && isAppError(error, 'unfinished_uploads_exceeded')) {
        void reply.header('upload-complete', '?1')
        return await storeBody(request, reply, options)
      }
      throw draftProblem(error)
    }
  }
}

type Creation = ReturnType<typeof uploadTarget> & {
  readonly length: number | undefined
  readonly isLast: boolean
  readonly visibility: ReturnType<typeof askedVisibility>
}

function assertCreation({ headers }: FastifyRequest): void {
  if (interopVersion(headers) !== INTEROP_VERSION) {
    const detail = `A part of a file needs the header Upload-Draft-Interop-Version: ${INTEROP_VERSION}.`
    throw invalidParameter('Upload-Draft-Interop-Version', detail)
  }
  if (isForm(headers)) throw formatError('A form must be sent in one request.')
  assertRawBody(headers)
}

async function create(
  request: FastifyRequest,
  { isLast, ...creation }: Creation,
  { uploads, shutdown }: CreationOptions,
) {
  const created = await uploads.create({
    ...creation,
    metadata: nameMetadata(creation.name),
    hasContent: !isLast || bodySize(request.headers) !== 0,
    shutdown,
  })
  request.upload = { id: created.version, offset: created.offset }
  return created
}

type Created = Awaited<ReturnType<typeof create>> &
  Creation & { readonly checksum: ReturnType<typeof parseContentDigest> }

async function replyToCreation(
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  created: Created,
  options: CreationOptions,
) {
  const { request, reply } = exchange
  const { version, isLast, expiresAt, committed } = created
  const { uploads, basePath, maxFileSize, interimResponses, idleTimeoutMs, shutdown } = options
  if (committed !== undefined) return await sendFile(reply, created, options)
  const location = `${basePath}${UPLOADS_PATH}/${version}`
  const limits = limitHeader({ maxFileSize, expiresAt })
  const headers = { location, ...limits }
  const isTold = sendInterim(request, reply, { interimResponses, headers })
  void reply.code(201).header('location', location)
  if (bodySize(request.headers) === 0) return acknowledge(reply, created, options)
  const { userId, userCreatedAt, reverify, length, checksum } = created
  const caller = { userId, userCreatedAt, reverify }
  const append = { ...caller, version, offset: 0, length, checksum, idleTimeoutMs, shutdown }
  try {
    return await replyToAppend(exchange, append, { ...options, isLast })
  } catch (error) {
    // Nobody knows where it is, or will ask for it.
    if (!isTold || endsUpload(error))
      await uploads.cancel({ ...caller, version }).catch(() => undefined)
    throw error
  }
}
