import type { FastifyRequest } from 'fastify'
import {
  assertCovers,
  assertMayFinish,
  coversName,
  hasPrefix,
  narrowPrecondition,
} from '../../../core/auth/scope.ts'
import type { Subject, UserSubject } from '../../../core/auth/subject.ts'
import { isAppError } from '../../../core/errors.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { parseMetadata } from '../../../core/files/metadata.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { isVersion, type Version } from '../../../core/objects/object-key.ts'
import { uploadNotFound } from '../../../core/resumable/refusals.ts'
import type { NamedUpload } from '../../../core/resumable/named-upload.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { Retention } from '../../../core/uploads/upload-ledger.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { requireUser } from '../access-token.ts'
import { askedRetention, askedVisibility, permittedVisibility } from '../files/file-upload.ts'
import type { UploadMetadata } from './tus-headers.ts'

export const UPLOADS_PATH = '/users/me/uploads'
export const UPLOAD_PATH = '/users/me/uploads/:upload_id'

/** The upload in the path, which the log line then names too. Throws `not_found` if it cannot be an id. */
export function uploadId(request: FastifyRequest): Version {
  const { upload_id: id } = request.params as { readonly upload_id: string }
  if (!isVersion(id)) throw uploadNotFound()
  request.upload = { id, offset: null }
  return id
}

/** For the log: the offset after the request. */
export function noteOffset(request: FastifyRequest, offset: number): void {
  if (request.upload !== null) request.upload = { ...request.upload, offset }
}

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

interface NewUpload extends Retention {
  readonly subject: Subject
  readonly name: FileName
  readonly visibility: Visibility | undefined
  readonly precondition: Precondition | undefined
}

export function ownUploads(
  uploads: Pick<ResumableUploads, 'find'>,
  basePath: string,
): UploadAccess {
  return {
    assert: (request) => void requireUser(request, ['create', 'replace']),
    create(request, { name, visibility, metadata }) {
      const caller = requireUser(request, ['create', 'replace'])
      assertCovers(caller, name)
      const asked = askedVisibility(request, caller)
      // The finish reads it again from the header.
      if (metadata !== undefined) parseMetadata(metadata)
      return {
        subject: caller,
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

/**
 * The upload in the path. Throws as `requireUser` and `uploadId` do, and if another token has created an upload that this
 * one may not finish: its name, precondition, visibility and what it evicts do not change, so the commit need not ask again.
 */
export async function ownUpload(
  request: FastifyRequest,
  uploads: Pick<ResumableUploads, 'find'>,
): Promise<NamedUpload & { readonly subject: UserSubject }> {
  const caller = requireUser(request, ['create', 'replace'])
  const named = { subject: caller, version: uploadId(request) }
  if (caller.scope !== undefined) {
    const { upload } = await uploads.find(named).catch((error: unknown) => {
      // How an upload ended tells that there was one, perhaps outside the prefix.
      throw isAppError(error, 'upload_gone') && hasPrefix(caller) ? uploadNotFound() : error
    })
    if (!coversName(caller, upload.name)) throw uploadNotFound()
    if (upload.state !== 'finished') assertMayFinish(caller, upload)
  }
  return named
}
