import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import { sendProblem } from '../../server/problem.ts'
import { tellOffset } from '../uploads/append-request.ts'
import { inconsistentLength, INTEROP_VERSION, limitHeader } from './draft-headers.ts'

/** What an append to an upload with these bytes is refused with, in the draft's terms. */
export function draftProblem(
  error: AppError,
  { offset, provided }: { readonly offset: number | undefined; readonly provided: number },
): AppError {
  const { code, message, facts } = error
  if (code === 'checksum_mismatch') {
    return new AppError('digest_mismatch', 'The content does not match the Content-Digest header.')
  }
  const isAboutLength = code === 'invalid_parameter' && facts['parameter'] === 'Upload-Length'
  if (isAboutLength || code === 'upload_length_exceeded') return inconsistentLength(message)
  // Clients give up on any other 4xx.
  if (code !== 'offset_mismatch' && code !== 'upload_busy') return error
  if (offset === undefined) return error
  return new AppError('offset_mismatch', message, {
    facts: {
      ...facts,
      type: 'https://iana.org/assignments/http-problem-types#mismatching-upload-offset',
      title: 'Mismatching Upload Offset',
      offset,
      provided_offset: provided,
      'expected-offset': offset,
      'provided-offset': provided,
    },
  })
}

/** Every refusal of a request with content says whether it is about the upload (`?0`) or the whole file (`?1`). */
export function sendDraftProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  void reply.header('upload-draft-interop-version', INTEROP_VERSION)
  if (WITH_CONTENT.has(request.method) && !reply.hasHeader('upload-complete')) {
    void reply.header('upload-complete', '?0')
  }
  tellOffset(error, request, reply)
  if (isAppError(error, 'file_too_large')) {
    void reply.headers(limitHeader(Number(error.facts['max_file_size'])))
  }
  return sendProblem(error, request, reply)
}

const WITH_CONTENT: ReadonlySet<string> = new Set(['PUT', 'POST', 'PATCH'])
