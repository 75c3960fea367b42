import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../../core/errors.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { OWN_FILE_PATH } from './file-resource.ts'
import {
  askedVisibility,
  permittedVisibility,
  UPLOAD_QUERY,
  UploadedFile,
  uploadedFile,
  uploadTarget,
} from './file-upload.ts'
import { type CreationOptions, discovery, orCreation } from '../draft/creation.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { ignoreContentType, receiveBody, receiveForm } from './receive-file.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from './upload.openapi.ts'

export const uploadRoutes: FastifyPluginAsyncTypebox<CreationOptions> = async (app, options) => {
  const schema = { querystring: UPLOAD_QUERY, response: { 200: UploadedFile } }

  const storeForm = async (request: FastifyRequest, reply: FastifyReply) => {
    const target = uploadTarget(request)
    const asked = askedVisibility(request, target)
    const committed = await receiveForm({ request, reply }, options, {
      target,
      visibility: (form) =>
        agree(asked, permittedVisibility(target, parseVisibility(form.field('visibility')))),
    })
    return uploadedFile(committed)
  }
  app.post(OWN_FILE_PATH, {
    schema,
    config: { operation: FORM_UPLOAD },
    ...orCreation(options, storeForm),
  })

  const storeBody = async (request: FastifyRequest, reply: FastifyReply) => {
    const target = uploadTarget(request)
    const visibility = askedVisibility(request, target)
    const committed = await receiveBody({ request, reply }, options, { target, visibility })
    // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
    void reply.header('etag', `"${committed.file.version}"`)
    return uploadedFile(committed)
  }
  const put = { schema, onRequest: ignoreContentType, config: { operation: RAW_UPLOAD } }
  app.put(OWN_FILE_PATH, { ...put, ...orCreation(options, storeBody) })
  discovery(app, options)
}

function agree(
  query: Visibility | undefined,
  field: Visibility | undefined,
): Visibility | undefined {
  if (query === undefined || field === undefined || query === field) return query ?? field
  throw invalidParameter(
    'visibility',
    'The query parameter "visibility" and the form field "visibility" have different values.',
  )
}
