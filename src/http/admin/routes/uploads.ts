import type { UploadAdministration } from '../../../core/resumable/upload-administration.ts'
import { unfinishedState } from '../../../core/resumable/upload-state.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import { pagedUploads, uploadMembers } from '../../shared-routes/upload-resource.ts'
import type { Audit } from '../audit.ts'
import { UPLOADS } from './uploads.openapi.ts'

export interface UploadRoutesOptions {
  readonly uploadAdministration: UploadAdministration
  readonly audit: Audit
}

export const uploadRoutes: FastifyPluginAsyncTypebox<UploadRoutesOptions> = async (
  app,
  { uploadAdministration: uploads, audit },
) => {
  const collection = '/admin/users/:user_id/uploads'

  app.get(collection, UPLOADS.list, async ({ params, query }) => {
    const { user_id: userId } = params
    const list = pagedUploads((page) => uploads.list({ userId, ...page }))
    const { entries, next_cursor } = await readPage(query, list)
    return {
      uploads: entries.map((upload) => uploadMembers(upload, unfinishedState(upload))),
      next_cursor,
    }
  })

  app.delete(`${collection}/:upload_id`, UPLOADS.cancel, async (request, reply) => {
    const { user_id: userId, upload_id: version } = request.params
    await uploads.cancel({ userId, version })
    await audit(request, { action: 'upload.cancel', user_id: userId, upload_id: version })
    return reply.code(204).send()
  })
}
