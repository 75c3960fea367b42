import type { FastifyRequest } from 'fastify'
import { assertCovers, narrowPrecondition } from '../../../core/auth/scope.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { parseMetadata } from '../../../core/files/metadata.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { UploadTerms } from '../../../core/uploads/upload-ledger.ts'
import type { AuthorizedCaller } from '../../../core/users/caller.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { requireUser } from '../access-token.ts'
import { askedRetention, askedVisibility, permittedVisibility } from '../files/file-upload.ts'
import { ownUpload } from './own-upload.ts'
import type { UploadMetadata } from './tus-headers.ts'
import { UPLOADS_PATH } from './upload-path.ts'

/** Authorizes tus requests and finds their upload: `ownUploads` by a user's token, `linkAccess` by a drop link. */
export interface UploadAccess {
  /** Throws unless the request may create or continue uploads. */
  readonly assert: (request: FastifyRequest) => void
  /** The upload that a request creates. */
  readonly create: (request: FastifyRequest, metadata: UploadMetadata) => NewUpload
  /** The upload in the path. */
  readonly find: (request: FastifyRequest) => Promise<NamedUpload>
  readonly locationOf: (request: FastifyRequest, version: Version) => string
}

interface NewUpload extends AuthorizedCaller, UploadTerms {
  readonly name: FileName
  readonly visibility: Visibility | undefined
  readonly precondition: Precondition | undefined
}

interface NamedUpload extends AuthorizedCaller {
  readonly version: Version
}

export function ownUploads(options: {
  readonly uploads: Pick<ResumableUploads, 'find'>
  readonly basePath: string
}): UploadAccess {
  const { uploads, basePath } = options
  return {
    assert: (request) => void requireUser(request, ['create', 'replace']),
    create(request, { name, visibility, metadata }) {
      const caller = requireUser(request, ['create', 'replace'])
      assertCovers(caller, name)
      const asked = askedVisibility(request, caller)
      // The finish reads it again from the header.
      if (metadata !== undefined) parseMetadata(metadata)
      return {
        ...caller,
        ...askedRetention(request, caller),
        name,
        visibility: asked ?? permittedVisibility(caller, parseVisibility(visibility)),
        precondition: narrowPrecondition(caller, parseWritePrecondition(request.headers)),
      }
    },
    find: (request) => ownUpload(request, uploads),
    locationOf: (_request, version) => `${basePath}${UPLOADS_PATH}/${version}`,
  }
}
