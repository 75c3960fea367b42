import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { assertMaySetVisibility, permittedEviction, type Scoped } from '../../../core/auth/scope.ts'
import { invalidExpiresIn, MAX_EXPIRES_IN_SECONDS } from '../../../core/auth/terms.ts'
import { invalidParameter, isAppError } from '../../../core/errors.ts'
import { type FileNamePrefix, parseFileNamePrefix } from '../../../core/files/file-name.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import type { Retention } from '../../../core/uploads/upload-ledger.ts'
import { Type } from '../../openapi/type.ts'
import { assertQueryDecodable } from '../../server/query.ts'

/** Parsed below, where the errors are. */
export const UPLOAD_QUERY = Type.Object({
  visibility: Type.Optional(Type.Unknown()),
  evict: Type.Optional(Type.Unknown()),
  expires_in: Type.Optional(Type.Unknown()),
})

type UploadQuery = Static<typeof UPLOAD_QUERY>

/** What an upload may evict, and how long its file lives. Throws `invalid_parameter` and `scope_insufficient`. */
export function askedRetention(request: FastifyRequest, subject: Scoped): Retention {
  const { evict, expires_in: expiresIn } = request.query as UploadQuery
  if (evict !== undefined) assertQueryDecodable(request)
  return {
    evict: permittedEviction(subject, evict === undefined ? undefined : parsePrefix(evict)),
    expiresInMs: expiresIn === undefined ? undefined : parseExpiresIn(expiresIn),
  }
}

function parsePrefix(value: unknown): FileNamePrefix {
  if (typeof value === 'string') {
    try {
      return parseFileNamePrefix(value)
    } catch (error) {
      if (!isAppError(error)) throw error
    }
  }
  throw invalidParameter('evict', 'evict must be a prefix of file names, and may be empty.')
}

function parseExpiresIn(value: unknown): number {
  const seconds = typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : 0
  if (seconds >= 1 && seconds <= MAX_EXPIRES_IN_SECONDS) return seconds * 1000
  throw invalidExpiresIn()
}

/**
 * As the query parameter demands it. Throws `invalid_parameter`, and `scope_insufficient` as `permittedVisibility`
 * does.
 */
export function askedVisibility(
  { query }: FastifyRequest,
  subject: Scoped,
): Visibility | undefined {
  return permittedVisibility(subject, parseVisibility((query as UploadQuery).visibility))
}

/** Returns the visibility of a write. If there is one, throws as `assertMaySetVisibility` does. */
export function permittedVisibility(
  subject: Scoped,
  visibility: Visibility | undefined,
): Visibility | undefined {
  if (visibility !== undefined) assertMaySetVisibility(subject, visibility)
  return visibility
}
