import type { FastifyRequest } from 'fastify'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import { nameFor, type Subject } from '../../../core/auth/subject.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { parseMetadata } from '../../../core/files/metadata.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { isVersion, type Version } from '../../../core/objects/object-key.ts'
import type { NamedUpload } from '../../../core/resumable/named-upload.ts'
import { uploadNotFound } from '../../../core/resumable/refusals.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { Retention } from '../../../core/uploads/upload-ledger.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { subjectOf } from '../../server/request-subject.ts'
import { askedRetention, askedVisibility, permittedVisibility } from '../files/upload-query.ts'
import type { UploadMetadata } from './tus-headers.ts'

/** Who creates and continues uploads needs one of these. */
export const UPLOAD_ACTIONS = ['create', 'replace'] as const

interface NewUpload extends Retention {
  readonly subject: Subject
  readonly name: FileName
  readonly visibility: Visibility | undefined
  readonly precondition: Precondition | undefined
}

/** The upload that a request creates. What the visitor of a link says of the file, besides its name, is ignored. */
export function newUpload(request: FastifyRequest, sent: UploadMetadata): NewUpload {
  const subject = subjectOf(request, UPLOAD_ACTIONS)
  const name = nameFor(subject, sent.name)
  if (subject.kind === 'visitor') {
    const precondition = narrowPrecondition(subject, undefined)
    return { subject, name, visibility: undefined, precondition }
  }
  const asked = askedVisibility(request, subject)
  // The finish reads it again from the header.
  if (sent.metadata !== undefined) parseMetadata(sent.metadata)
  return {
    ...askedRetention(request, subject),
    subject,
    name,
    visibility: asked ?? permittedVisibility(subject, parseVisibility(sent.visibility)),
    precondition: narrowPrecondition(subject, parseWritePrecondition(request.headers)),
  }
}

/** The upload in the path. Throws as `subjectOf`, `uploadId` and `ResumableUploads.permit` do. */
export async function namedUpload(
  request: FastifyRequest,
  uploads: Pick<ResumableUploads, 'permit'>,
): Promise<NamedUpload> {
  const upload = { subject: subjectOf(request, UPLOAD_ACTIONS), version: uploadId(request) }
  if (upload.subject.scope !== undefined) await uploads.permit(upload)
  return upload
}

/** The upload in the path, which the log line then names too. Throws `not_found` if it cannot be an id. */
function uploadId(request: FastifyRequest): Version {
  const { upload_id: id } = request.params as { readonly upload_id: string }
  if (!isVersion(id)) throw uploadNotFound()
  request.upload = { id, offset: null }
  return id
}

/** For the log: the offset after the request. */
export function noteOffset(request: FastifyRequest, offset: number): void {
  if (request.upload !== null) request.upload = { ...request.upload, offset }
}
