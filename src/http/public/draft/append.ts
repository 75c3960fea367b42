import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import { emptyAppend } from '../../../core/resumable/append/empty-append.ts'
import type { Appended, ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { NamedResumable } from '../../../core/resumable/resumable-ledger.ts'
import type { Caller } from '../../../core/users/caller.ts'
import { assertRawBody } from '../../body/raw-body.ts'
import { assertMediaType, describeStored } from '../../headers/content-headers.ts'
import { formatReprDigest, parseReprDigest } from '../../headers/repr-digest.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { mayRead } from '../../../core/auth/scope.ts'
import { requireUser } from '../access-token.ts'
import { committedFile } from '../files/file-upload.ts'
import { type AppendTarget, appendOf, isLeftUnanswered } from '../uploads/append-request.ts'
import type { ResumableRouteOptions } from '../uploads/routes.ts'
import { ownUpload } from '../uploads/own-upload.ts'
import { noteOffset } from '../uploads/upload-path.ts'
import { limitHeader, PARTIAL_MEDIA_TYPE, parseBytes, parseContent } from './draft-headers.ts'
import { draftProblem } from './draft-problems.ts'

/** Section "Upload Append". */
export function appendHandler(options: ResumableRouteOptions) {
  const { uploads, maxFileSize, idleTimeoutMs, shutdown } = options
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers } = request
    const named = await ownUpload(request, uploads)
    assertMediaType(headers, PARTIAL_MEDIA_TYPE)
    assertRawBody(headers)
    const offset = parseBytes(headers, 'Upload-Offset')
    const { isLast, length, checksum } = parseContent(headers, offset)
    const sha256 = parseReprDigest(headers['repr-digest']?.toString())
    const target = { ...named, length, checksum, offset, sha256, idleTimeoutMs, shutdown }
    return await replyToAppend(reply, target, { uploads, maxFileSize, isLast })
  }
}

export interface AppendReplyOptions extends AcknowledgeOptions {
  readonly uploads: ResumableUploads
  readonly isLast: boolean
}

/**
 * Appends the content, and replies: the file if the content ends it, else where the upload continues. Content that
 * should have ended the file and broke off is a failure, so that nobody takes it for the file.
 */
export async function replyToAppend(
  reply: FastifyReply,
  target: AppendTarget,
  { uploads, isLast, maxFileSize, location }: AppendReplyOptions,
) {
  const append = appendOf(reply.request, reply, target)
  try {
    let appended = await uploads.append(append)
    if (isLast && appended.cut === undefined && appended.committed === undefined) {
      appended = await uploads.append(emptyAppend(append, appended.offset))
    }
    if (isLeftUnanswered(reply, appended)) return reply
    if (!isLast) return acknowledge(reply, appended, { maxFileSize, location })
    if (appended.committed !== undefined) return await sendFile(reply, target, uploads)
    const message = 'The content ended before all of its bytes had arrived.'
    throw new AppError('unavailable', message, { cause: await append.failure() })
  } catch (error) {
    if (!isAppError(error)) throw error
    throw await refusal({ error, reply, target, uploads })
  }
}

/** What a `PUT` of the whole file replies; others may have sent a part of it. */
export async function sendFile(
  reply: FastifyReply,
  { userId, userCreatedAt, version }: Caller & Pick<NamedResumable, 'version'>,
  uploads: ResumableUploads,
) {
  const committed = await uploads.outcome({ userId, userCreatedAt, version })
  const { file } = committed
  const caller = requireUser(reply.request, ['create', 'replace'])
  if (mayRead(caller, file.name)) void reply.header('repr-digest', formatReprDigest(file.sha256))
  void reply.code(200).header('upload-complete', '?1')
  describeStored(reply, version)
  return committedFile(caller, committed)
}

interface AcknowledgeOptions {
  readonly maxFileSize: number
  /** Of an upload that this request has created. */
  readonly location?: string | undefined
}

export function acknowledge(
  reply: FastifyReply,
  { offset, expiresAt }: Appended,
  { maxFileSize, location }: AcknowledgeOptions,
): FastifyReply {
  void reply.header('upload-complete', '?0').header('upload-offset', offset)
  void reply.headers(limitHeader(maxFileSize, expiresAt))
  return (location === undefined ? reply.code(204) : reply.code(201).headers({ location })).send()
}

/** Ends an upload whose content goes beyond its length, and reports whether the commit of the file was refused. */
async function refusal({ error, reply, target, uploads }: Refused): Promise<AppError> {
  const { userId, userCreatedAt, version, offset: provided } = target
  // The database may be what is unavailable.
  if (error.code === 'unavailable' || error.code === 'truncated_body') return error
  const named = { userId, userCreatedAt, version }
  const { upload } = await uploads.find(named).catch((cause: unknown) => {
    if (!isAppError(cause)) throw cause
    return { upload: undefined }
  })
  if (error.code === 'upload_length_exceeded' && upload?.state === 'open') {
    await uploads.cancel(named).catch(() => undefined)
  }
  if (error.code === 'digest_mismatch' || upload?.refusal === error.code) {
    void reply.header('upload-complete', '?1')
  }
  return draftProblem(error, { offset: upload?.offset, provided })
}

interface Refused {
  readonly error: AppError
  readonly reply: FastifyReply
  readonly target: AppendTarget
  readonly uploads: ResumableUploads
}

/** Section "Offset Retrieval". A `GET` has no content. */
export function offsetHandler({ uploads, maxFileSize, shutdown }: ResumableRouteOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const named = await ownUpload(request, uploads)
    const signal = requestSignal(reply, shutdown)
    const { offset, length, state, expiresAt } = await uploads
      .resume({ ...named, signal, shutdown })
      .catch(async (error: unknown) => {
        // Clients give up on a 4xx, and whether the upload is complete is said apart from its offset.
        if (isAppError(error, 'upload_busy')) return (await uploads.find(named)).upload
        throw error
      })
    noteOffset(request, offset)
    const isFinished = state === 'finished'
    void reply.headers(limitHeader(maxFileSize, isFinished ? undefined : expiresAt))
    void reply.header('upload-complete', isFinished ? '?1' : '?0').header('upload-offset', offset)
    if (length !== undefined) void reply.header('upload-length', length)
    return reply.code(204).send()
  }
}
