import type { FastifyRequest } from 'fastify'
import { AppError, isAppError, tooManyRequests } from '../../../core/errors.ts'
import type { ErrorCode } from '../../../core/error-codes.ts'
import { linkNotFound } from '../../../core/links/link.ts'

/** Translates a refusal for a visitor: removes everything about the owner. */
export function toldToVisitor(error: unknown, { subject }: FastifyRequest): unknown {
  if (!isAppError(error)) return error
  // A drop always has `If-None-Match: *`; the visitor has sent no precondition.
  const isDrop = subject?.kind === 'visitor' && subject.link.kind === 'drop'
  if (isDrop && isAppError(error, 'precondition_failed')) return nameTaken()
  return TOLD[error.code]?.(error) ?? error
}

/** The codes with which a visitor of a drop link is refused what its owner is refused with these. */
export function toldOnDrop(codes: readonly ErrorCode[]): readonly ErrorCode[] {
  return codes.map((code) => {
    if (code === 'precondition_failed') return nameTaken().code
    return TOLD[code]?.(new AppError(code, '')).code ?? code
  })
}

const nameTaken = () => new AppError('file_exists', 'A file with this name already exists.')

const noRoom = () => new AppError('capacity_exceeded', 'There is no room for this file.')

const TOLD: Readonly<Partial<Record<ErrorCode, (error: AppError) => AppError>>> = {
  access_token_invalid: linkNotFound,
  user_suspended: linkNotFound,
  capacity_exceeded: noRoom,
  file_count_exceeded: noRoom,
  unfinished_uploads_exceeded: noRoom,
  archive_too_large: ({ facts }) =>
    new AppError(
      'archive_too_large',
      'The files are too many for one archive. Download them one by one.',
      { facts },
    ),
  too_many_requests: ({ facts }) =>
    tooManyRequests(
      'There are too many requests for this link or from this address. Try again later.',
      Number(facts['retry_after'] ?? 1) * 1000,
    ),
}
