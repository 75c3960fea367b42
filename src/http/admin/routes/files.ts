import type { FileAdministration } from '../../../core/files/file-administration.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { askedListing, listingReply } from '../../shared-routes/file-listing.ts'
import { fileNameParam } from '../../shared-routes/file-resource.ts'
import type { Audited } from '../audit.ts'
import { FILES } from './files.openapi.ts'

interface FileOptions extends Audited {
  readonly fileAdministration: FileAdministration
}

export const fileRoutes: FastifyPluginAsyncTypebox<FileOptions> = async (
  app,
  { fileAdministration, audit },
) => {
  const collection = '/admin/users/:user_id/files'

  app.get(collection, FILES.list, async (request) => {
    const { user_id } = request.params
    const asked = askedListing(request)
    const listed = await fileAdministration.list({ userId: user_id, ...asked })
    await audit(request, { action: 'files.list', user_id, files: listed.files.length })
    return listingReply(listed, asked)
  })

  app.delete(`${collection}/:file_name`, FILES.remove, async (request, reply) => {
    const { user_id, file_name } = request.params
    const version = await fileAdministration.remove({
      userId: user_id,
      name: fileNameParam(file_name),
      precondition: parseWritePrecondition(request.headers),
    })
    await audit(request, { action: 'file.delete', user_id, version })
    return reply.code(204).send()
  })
}
