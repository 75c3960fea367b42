import type { FastifyRequest } from 'fastify'
import { isVersion, type Version } from '../../../core/objects/object-key.ts'
import { uploadNotFound } from '../../../core/resumable/refusals.ts'

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
