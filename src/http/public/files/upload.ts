import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../../core/errors.ts'
import { parseVisibility, type Visibility } from '../../../core/files/file.ts'
import { type FileRouteOptions, OWN_FILE_PATH } from './file-resource.ts'
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
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'
import { minFileSize, openFileForm } from '../../multipart/file-form.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from './upload.openapi.ts'

export const uploadRoutes: FastifyPluginAsyncTypebox<CreationOptions> = async (app, options) => {
  const { repository, shutdown, idleTimeoutMs } = options
  const schema = { querystring: UPLOAD_QUERY, response: { 200: UploadedFile } }

  const storeForm = async (request: FastifyRequest, reply: FastifyReply) => {
    const target = uploadTarget(request)
    const asked = askedVisibility(request, target)
    const signal = requestSignal(reply, shutdown)
    async function onStart(): Promise<void> {
      await repository.admit({ ...target, min: minFileSize(request.headers) })
      tellToContinue(request, reply)
    }
    const form = { signal, idleTimeoutMs, ...(expectsContinue(request) && { onStart }) }
    using incoming = await openFileForm(request, form)
    const visibility = () =>
      agree(asked, permittedVisibility(target, parseVisibility(incoming.field('visibility'))))
    return uploadedFile(await repository.upload({ ...target, visibility, incoming, signal }))
  }
  app.post(OWN_FILE_PATH, { schema, config: FORM_UPLOAD, ...orCreation(options, storeForm) })

  const put = { schema, onRequest: ignoreContentType, config: RAW_UPLOAD }
  const store = (request: FastifyRequest, reply: FastifyReply) => storeBody(request, reply, options)
  app.put(OWN_FILE_PATH, { ...put, ...orCreation(options, store) })
  discovery(app, options)
}

/** The service does not store the type, so a malformed type is not an error. */
async function ignoreContentType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}

/** Stores the body as the file that the path names. */
async function storeBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { repository, shutdown, idleTimeoutMs }: FileRouteOptions,
) {
  const target = uploadTarget(request)
  const asked = askedVisibility(request, target)
  const signal = requestSignal(reply, shutdown)
  using incoming = openRawBody(request, { signal, idleTimeoutMs })
  if (expectsContinue(request)) {
    await repository.admit({ ...target, min: incoming.size.min })
    tellToContinue(request, reply)
  }
  const visibility = () => asked
  const committed = await repository.upload({ ...target, visibility, incoming, signal })
  // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
  void reply.header('etag', `"${committed.file.version}"`)
  return uploadedFile(committed)
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
