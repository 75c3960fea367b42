import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import { ERROR_KINDS, type ErrorCode } from '../../../core/error-codes.ts'
import { sendProblem } from '../../server/problem.ts'
import { noteOffset } from '../resumable/upload-path.ts'
import { inconsistentLength, limitHeader } from './draft-headers.ts'

const IANA = 'https://iana.org/assignments/http-problem-types#'

/** What a use case rejects with, in the draft's terms: its problem types, and 5xx for what a client may repeat. */
export function draftProblem(error: unknown): unknown {
  if (!isAppError(error)) return error
  const { code, message, facts, cause } = error
  if (code === 'offset_mismatch') {
    const type = `${IANA}mismatching-upload-offset`
    const { offset = 0, provided_offset: provided = 0 } = facts
    const offsets = { 'expected-offset': offset, 'provided-offset': provided }
    const added = { type, title: 'Mismatching Upload Offset', ...offsets }
    return new AppError(code, message, { facts: { ...facts, ...added } })
  }
  const isAboutLength = code === 'invalid_parameter' && facts['parameter'] === 'Upload-Length'
  if (isAboutLength || code === 'upload_length_exceeded') return inconsistentLength(message)
  if (code === 'checksum_mismatch') {
    return new AppError('digest_mismatch', 'The content does not match the Content-Digest header.')
  }
  // Clients give up on a 4xx.
  return code === 'upload_busy' ? new AppError('unavailable', message, { cause }) : error
}

/** The content has not come to its end, because of `cause`: a client may ask for the offset and go on. */
export function cutShort(cause: unknown): AppError {
  const message = 'The content ended before all of its bytes had arrived.'
  return new AppError('unavailable', message, { cause })
}

/** Refusals after which the client does not come back, so the upload is of no more use. */
export function endsUpload(error: unknown): boolean {
  return isAppError(error) && ERROR_KINDS[error.code].status < 500 && !COMES_BACK.has(error.code)
}

/** Another request has the upload, or had it. */
const COMES_BACK: ReadonlySet<ErrorCode> = new Set([
  'offset_mismatch',
  'upload_busy',
  'upload_gone',
])

/** Every refusal of a request with content says whether it is about the upload (`?0`) or the whole file (`?1`). */
export function sendDraftProblem({ maxFileSize }: { readonly maxFileSize: number }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    void reply.removeHeader('location')
    if (WITH_CONTENT.has(request.method) && !reply.hasHeader('upload-complete')) {
      void reply.header('upload-complete', '?0')
    }
    if (isAppError(error, 'offset_mismatch')) {
      const offset = Number(error.facts['offset'])
      noteOffset(request, offset)
      void reply.header('upload-offset', offset)
    }
    if (isAppError(error, 'file_too_large')) void reply.headers(limitHeader({ maxFileSize }))
    return sendProblem(error, request, reply)
  }
}

const WITH_CONTENT: ReadonlySet<string> = new Set(['PUT', 'POST', 'PATCH'])
