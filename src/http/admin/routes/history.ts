import { parseFileName } from '../../../core/files/file-name.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseCursor } from '../../shared-routes/pagination.ts'
import { endIn, historyPage } from '../../shared-routes/past-version-resource.ts'
import type { AuditedOptions } from '../audit.ts'
import { HISTORY } from './history.openapi.ts'

export const historyRoutes: FastifyPluginAsyncTypebox<AuditedOptions> = async (
  app,
  { audited },
) => {
  const collection = '/admin/users/:user_id/history'

  app.get(collection, HISTORY.list, async (request) => {
    const { name, limit = DEFAULT_PAGE_LIMIT, cursor } = request.query
    const found = await audited(request).historyAdministration.list({
      userId: request.params.user_id,
      name: nameOf(name),
      after: cursor === undefined ? undefined : parseCursor(cursor, endIn),
      limit,
    })
    return historyPage(found)
  })

  app.post(`${collection}/:version/restore`, HISTORY.restore, async (request) => {
    const { user_id: userId, version } = request.params
    const { name, overwrite = false } = request.body
    const { file, replaced } = await audited(request).historyAdministration.restore({
      userId,
      version,
      name: nameOf(name),
      overwrite,
    })
    return { name: file.name, version: file.version, size: file.size, replaced }
  })
}

function nameOf(name: string | undefined) {
  return name === undefined ? undefined : parseFileName(name)
}
