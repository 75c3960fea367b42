import { parseWritePrecondition } from '../../headers/preconditions.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { askedListing, listingReply } from '../../shared-routes/file-listing.ts'
import { fileNameParam } from '../../shared-routes/file-resource.ts'
import type { AuditedOptions } from '../audit.ts'
import { FILES } from './files.openapi.ts'

export const fileRoutes: FastifyPluginAsyncTypebox<AuditedOptions> = async (app, { audited }) => {
  const collection = '/admin/users/:user_id/files'

  app.get(collection, FILES.list, async (request) => {
    const { user_id: userId } = request.params
    const asked = askedListing(request)
    const listed = await audited(request).fileAdministration.list({ userId, ...asked })
    return listingReply(listed, asked)
  })

  app.delete(`${collection}/:file_name`, FILES.remove, async (request, reply) => {
    const { user_id: userId, file_name } = request.params
    await audited(request).fileAdministration.remove({
      userId,
      name: fileNameParam(file_name),
      precondition: parseWritePrecondition(request.headers),
    })
    return reply.code(204).send()
  })
}
