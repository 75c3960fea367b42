import { unfinishedState } from '../../../core/resumable/upload-state.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import { pagedUploads, uploadMembers } from '../../shared-routes/upload-resource.ts'
import type { AuditedOptions } from '../audit.ts'
import { UPLOADS } from './uploads.openapi.ts'

export const uploadRoutes: FastifyPluginAsyncTypebox<AuditedOptions> = async (app, { audited }) => {
  const collection = '/admin/users/:user_id/uploads'

  app.get(collection, UPLOADS.list, async (request) => {
    const { uploadAdministration } = audited(request)
    const { user_id: userId } = request.params
    const list = pagedUploads((page) => uploadAdministration.list({ userId, ...page }))
    const { entries, next_cursor } = await readPage(request.query, list)
    return {
      uploads: entries.map((upload) => uploadMembers(upload, unfinishedState(upload))),
      next_cursor,
    }
  })

  app.delete(`${collection}/:upload_id`, UPLOADS.cancel, async (request, reply) => {
    const { user_id: userId, upload_id: version } = request.params
    await audited(request).uploadAdministration.cancel({ userId, version })
    return reply.code(204).send()
  })
}
