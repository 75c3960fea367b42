import type { FastifyRequest } from 'fastify'
import { availableBytes } from '../../../core/quota/capacity.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { Bytes } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { assertPermits, narrowPrecondition, type Scoped } from '../../../core/auth/scope.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { FileReply, fileReply, ownFile } from './file-resource.ts'

/** Its parser has the values of `visibility`. */
export const UPLOAD_QUERY = Type.Object({ visibility: Type.Optional(Type.Unknown()) })

/** What the head of an upload says about the file. Throws as the parsers of its parts do. */
export function uploadTarget(request: FastifyRequest) {
  const { headers } = request
  const file = ownFile(request, 'create', 'replace')
  const precondition = narrowPrecondition(file, parseWritePrecondition(headers))
  return { ...file, precondition, sha256: parseReprDigest(headers['repr-digest']?.toString()) }
}

/** As the query parameter demands it. Throws `invalid_parameter`, and `scope_insufficient` as `permittedVisibility` does. */
export function askedVisibility({ query }: FastifyRequest, caller: Scoped): Visibility | undefined {
  return permittedVisibility(
    caller,
    parseVisibility((query as { readonly visibility?: unknown }).visibility),
  )
}

/** Returns the visibility of a write. Throws `scope_insufficient` if there is one and the caller may not share. */
export function permittedVisibility(
  caller: Scoped,
  visibility: Visibility | undefined,
): Visibility | undefined {
  if (visibility !== undefined) assertPermits(caller, ['share'])
  return visibility
}

export const UploadedFile = Type.Intersect(
  [
    FileReply,
    Type.Object({
      replaced: Type.Boolean({
        description: 'Whether the upload replaced a file with the same name.',
      }),
      capacity: Type.Object({
        capacity: Bytes('Capacity of the repository, in bytes.'),
        used: Bytes('Bytes used by files, including this one.'),
        reserved: Bytes('Bytes reserved by uploads in progress.'),
        available: Bytes('Bytes that are still available.'),
      }),
    }),
  ],
  {
    title: 'UploadedFile',
    description: 'The uploaded file, and the capacity after the upload.',
  },
)

export function uploadedFile({ file, replaced, usage }: CommittedUpload) {
  const { capacity, used, reserved } = usage
  return {
    ...fileReply(file),
    replaced,
    capacity: { capacity, used, reserved, available: availableBytes(usage) },
  }
}
