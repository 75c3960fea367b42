import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/errors.ts'
import type { ErrorCode } from '../../../core/error-codes.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { ResumableUpload } from '../../../core/uploads/resumable/resumable-ledger.ts'
import type { Appended } from '../../../core/uploads/resumable/resumable-uploads.ts'
import type { AuthorizedCaller } from '../../../core/users/caller.ts'
import { formatReprDigest } from '../../headers/repr-digest.ts'
import { uploadedFile } from '../file-upload.ts'
import { type AppendTarget, appendOf, isLeftUnanswered } from '../resumable/append-request.ts'
import type { ResumableRouteOptions } from '../resumable/routes.ts'
import { type UploadLimits, limitHeader } from './draft-headers.ts'
import { cutShort } from './draft-problems.ts'
import { type InterimOptions, sendInterim } from './interim-responses.ts'

export interface AppendReplyOptions extends ResumableRouteOptions, InterimOptions {
  readonly isLast: boolean
}

/**
 * Appends the content, and replies: the file once it is stored, else where the upload continues. Content that should
 * have ended the file and broke off is a failure, so that nobody takes it for the file.
 */
export async function replyToAppend(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  target: Omit<AppendTarget, 'sealedBy' | 'onRecorded'>,
  options: AppendReplyOptions,
) {
  const { uploads, isLast, interimResponses } = options
  const onRecorded = (offset: number): void => {
    sendInterim(request, reply, { interimResponses, headers: { 'upload-offset': offset } })
  }
  const sealedBy = isLast ? 'body' : 'later'
  const append = appendOf(request, reply, { ...target, sealedBy, onRecorded })
  try {
    const appended = await uploads.append(append)
    if (isLeftUnanswered(reply, appended)) return reply
    if (appended.committed !== undefined) return await sendFile(reply, target, options)
    if (appended.cut !== undefined && isLast) throw cutShort(await append.failure())
    return acknowledge(reply, appended, options)
  } catch (error) {
    if (await isAboutFile(error, target, options)) void reply.header('upload-complete', '?1')
    throw error
  }
}

/** What a `PUT` of the whole file replies. */
export async function sendFile(
  reply: FastifyReply,
  { userId, userCreatedAt, version }: AuthorizedCaller & { readonly version: Version },
  { uploads }: Pick<ResumableRouteOptions, 'uploads'>,
) {
  const committed = await uploads.outcome({ userId, userCreatedAt, version })
  const { sha256 } = committed.file
  const digest = formatReprDigest(sha256)
  const headers = { 'upload-complete': '?1', 'repr-digest': digest, etag: `"${version}"` }
  void reply.code(200).removeHeader('location').headers(headers)
  return uploadedFile(committed)
}

/** A 204, or the 201 that was set before. */
export function acknowledge(
  reply: FastifyReply,
  { offset, expiresAt }: Pick<Appended, 'offset' | 'expiresAt'>,
  { maxFileSize }: UploadLimits,
): FastifyReply {
  const limits = limitHeader({ maxFileSize, expiresAt })
  void reply.headers({ 'upload-complete': '?0', 'upload-offset': offset, ...limits })
  return (reply.statusCode === 201 ? reply : reply.code(204)).send()
}

/** The commit of a file with all its bytes was refused, rather than this request. */
async function isAboutFile(
  error: unknown,
  { userId, userCreatedAt, version }: AuthorizedCaller & { readonly version: Version },
  { uploads }: Pick<ResumableRouteOptions, 'uploads'>,
): Promise<boolean> {
  if (isAppError(error, 'digest_mismatch')) return true
  if (!isAppError(error) || !OF_COMMIT.has(error.code)) return false
  const state = await stateOf(uploads.find({ userId, userCreatedAt, version }))
  return state === 'sealed'
}

const OF_COMMIT: ReadonlySet<ErrorCode> = new Set([
  'capacity_exceeded',
  'file_count_exceeded',
  'precondition_failed',
  'too_many_requests',
  'user_suspended',
  'access_token_invalid',
])

async function stateOf(
  found: Promise<{ readonly upload: ResumableUpload }>,
): Promise<ResumableUpload['state'] | undefined> {
  try {
    return (await found).upload.state
  } catch {
    return undefined
  }
}
