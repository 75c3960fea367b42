import type { UploadAdministration } from '../../../core/resumable/upload-administration.ts'
import { unfinishedState } from '../../../core/resumable/upload-state.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import { pagedUploads, uploadMembers } from '../../shared-routes/upload-resource.ts'
import type { Audited } from '../audit.ts'
import { UPLOADS } from './uploads.openapi.ts'

interface UploadOptions extends Audited {
  readonly uploadAdministration: Pick<UploadAdministration, 'list' | 'cancel'>
}

export const uploadRoutes: FastifyPluginAsyncTypebox<UploadOptions> = async (
  app,
  { uploadAdministration, audit },
) => {
  const collection = '/admin/users/:user_id/uploads'

  app.get(collection, UPLOADS.list, async (request) => {
    const { user_id: userId } = request.params
    const list = pagedUploads((page) => uploadAdministration.list({ userId, ...page }))
    const { entries, next_cursor } = await readPage(request.query, list)
    return {
      uploads: entries.map((upload) => uploadMembers(upload, unfinishedState(upload))),
      next_cursor,
    }
  })

  app.delete(`${collection}/:upload_id`, UPLOADS.cancel, async (request, reply) => {
    const { user_id, upload_id } = request.params
    await uploadAdministration.cancel({ userId: user_id, version: upload_id })
    await audit(request, { action: 'upload.cancel', user_id, upload_id })
    return reply.code(204).send()
  })
}
