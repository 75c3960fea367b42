import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import {
  assertMaySetVisibility,
  mayRead,
  narrowPrecondition,
  permits,
  permittedEviction,
  type Scoped,
} from '../../../core/auth/scope.ts'
import { invalidExpiresIn, MAX_EXPIRES_IN_SECONDS } from '../../../core/auth/terms.ts'
import { invalidParameter, isAppError } from '../../../core/errors.ts'
import { type FileNamePrefix, parseFileNamePrefix } from '../../../core/files/file-name.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { availableBytes } from '../../../core/quota/capacity.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import type { Usage } from '../../../core/users/account-ledger.ts'
import { assertWholeFile } from '../../headers/content-headers.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { Bytes, Count } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { assertQueryDecodable } from '../../server/query.ts'
import { fileReply, seenFile, SeenFileReply } from '../../routes/file-resource.ts'
import { ownFile } from './file-resource.ts'

/** Parsed below, where the errors are. */
export const UPLOAD_QUERY = Type.Object({
  visibility: Type.Optional(Type.Unknown()),
  evict: Type.Optional(Type.Unknown()),
  expires_in: Type.Optional(Type.Unknown()),
})

/** What the head of an upload says about the file. Throws as the parsers of its parts do. */
export function uploadTarget(request: FastifyRequest) {
  const { headers } = request
  const { subject, name } = ownFile(request, ['create', 'replace'])
  assertWholeFile(headers)
  return {
    subject,
    name,
    ...askedRetention(request, subject),
    precondition: narrowPrecondition(subject, parseWritePrecondition(headers)),
    sha256: parseReprDigest(headers['repr-digest']?.toString()),
  }
}

type UploadQuery = Static<typeof UPLOAD_QUERY>

/** What an upload may evict, and how long its file lives. Throws `invalid_parameter` and `scope_insufficient`. */
export function askedRetention(request: FastifyRequest, caller: Scoped) {
  const { evict, expires_in: expiresIn } = request.query as UploadQuery
  if (evict !== undefined) assertQueryDecodable(request)
  return {
    evict: permittedEviction(caller, evict === undefined ? undefined : parsePrefix(evict)),
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

/** As the query parameter demands it. Throws `invalid_parameter`, and `scope_insufficient` as `permittedVisibility` does. */
export function askedVisibility({ query }: FastifyRequest, caller: Scoped): Visibility | undefined {
  return permittedVisibility(caller, parseVisibility((query as UploadQuery).visibility))
}

/** Returns the visibility of a write. If there is one, throws as `assertMaySetVisibility` does. */
export function permittedVisibility(
  caller: Scoped,
  visibility: Visibility | undefined,
): Visibility | undefined {
  if (visibility !== undefined) assertMaySetVisibility(caller, visibility)
  return visibility
}

export const RemainingCapacity = Type.Object({
  capacity: Bytes('Capacity of the repository, in bytes.', 1_073_741_824),
  used: Bytes('Bytes used by files.', 6143),
  reserved: Bytes('Bytes reserved by uploads in progress.', 0),
  available: Bytes('Bytes that are still available.', 1_073_735_681),
})

/** The member `capacity` of an answer, which a token without `read` does not get. */
export function remainingCapacity(caller: Scoped, usage: Usage) {
  if (!permits(caller, 'read')) return {}
  const { capacity, used, reserved } = usage
  return { capacity: { capacity, used, reserved, available: availableBytes(usage) } }
}

export const UploadedFile = Type.Intersect(
  [
    SeenFileReply,
    Type.Object({
      replaced: Type.Boolean({
        description: 'Whether the upload replaced a file with the same name.',
      }),
      capacity: Type.Optional(RemainingCapacity),
      evicted: Type.Optional(
        Type.Object(
          {
            files: Count('Number of evicted files.', 2),
            bytes: Bytes('Sum of their sizes.', 12_286),
          },
          { description: 'What made room, if the upload may evict.' },
        ),
      ),
    }),
  ],
  {
    title: 'UploadedFile',
    description: 'The uploaded file, and, for a token with `read`, the capacity after the upload.',
  },
)

/** The answer to a request that has sent the whole content, which tells its sender nothing of any other content. */
export function uploadedFile(caller: Scoped, committed: CommittedUpload) {
  const { file } = committed
  if (mayRead(caller, file.name)) return committedFile(caller, committed)
  const { size, sha256, etag, version, updated_at, expires_at, media_type } = fileReply(file)
  const sent = { size, sha256, etag, version, updated_at, expires_at, media_type }
  return { ...committedFile(caller, committed), ...sent }
}

/** The answer to any other request that commits or restores a file. */
export function committedFile(caller: Scoped, committed: CommittedUpload) {
  const { file, replaced, usage, evicted } = committed
  return {
    ...seenFile(caller, file),
    replaced,
    ...remainingCapacity(caller, usage),
    ...(evicted && { evicted }),
  }
}
