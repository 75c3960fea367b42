import type { FastifyRequest } from 'fastify'
import { assertPermits } from '../../../core/auth/scope.ts'
import { fileNotFound } from '../../../core/files/file.ts'
import type { ReadFile } from '../../../core/repository.ts'
import { isUserId } from '../../../core/users/user-id.ts'
import { serveContent } from '../../download/serve-content.ts'
import { describeStored } from '../../headers/content-headers.ts'
import { described } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import { DOWNLOADS } from '../../routes/files/download.openapi.ts'
import { fileNameIn } from '../../routes/files/file-resource.ts'
import { addFileRemoval } from '../../routes/files/remove.ts'
import { UploadedFile, uploadedFile } from '../../routes/files/stored-file.ts'
import { addUploads } from '../../routes/files/upload.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from '../../routes/files/upload.openapi.ts'
import { UPLOAD_QUERY } from '../../routes/files/upload-query.ts'
import { requireUser, viewerOf } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'

export const OWN_FILE_PATH = '/users/me/repo/*'

/** Upload, download and deletion of the file in the path. */
export const fileRoutes: UserPlugin = async (app, { useCases: { repository }, ...serving }) => {
  const schema = { querystring: UPLOAD_QUERY, response: { 200: UploadedFile } }
  addUploads(app, repository, {
    url: OWN_FILE_PATH,
    form: {
      schema,
      config: { operation: FORM_UPLOAD },
      show: (_reply, subject, committed) => uploadedFile(subject, committed),
    },
    body: {
      schema,
      config: { operation: RAW_UPLOAD },
      show(reply, subject, committed) {
        // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
        describeStored(reply, committed.file.version)
        return uploadedFile(subject, committed)
      },
    },
  })

  serveContent(app, serving, {
    url: '/users/:user_id/repo/*',
    route: { schema: { params: Params }, config: { operation: DOWNLOADS } },
    wanted,
    stat: (file) => repository.stat(file),
    open: (file) => repository.open(file),
  })

  addFileRemoval(app, repository, {
    route: { method: 'DELETE', url: OWN_FILE_PATH, ...REMOVAL },
  })
}

const Params = Type.Object({ user_id: Type.String(), '*': Type.String() })

/** Conditions are evaluated only if the caller may see the file, so that they reveal nothing to anyone else. */
function wanted(request: FastifyRequest): ReadFile {
  const params = request.params as { readonly user_id: string }
  const owner = params.user_id === 'me' ? requireUser(request, ['read']).userId : params.user_id
  const name = fileNameIn(request)
  if (!isUserId(owner)) throw fileNotFound()
  const viewer = viewerOf(request, owner)
  if (viewer?.userId === owner) assertPermits(viewer, ['read'], name)
  return { userId: owner, name, viewer }
}

const REMOVAL = described({
  operationId: 'deleteFile',
  summary: "Delete one of the caller's files",
  tag: 'files',
  parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
  responses: { 204: 'The file is deleted and its bytes are available again.' },
  problems: ['not_found'],
})
