import { parseFileName } from '../../../core/files/file-name.ts'
import type { HistoryAdministration } from '../../../core/history/history-administration.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseCursor } from '../../shared-routes/pagination.ts'
import { endIn, historyPage } from '../../shared-routes/past-version-resource.ts'
import type { Audited } from '../audit.ts'
import { HISTORY } from './history.openapi.ts'

interface HistoryOptions extends Audited {
  readonly historyAdministration: HistoryAdministration
}

export const historyRoutes: FastifyPluginAsyncTypebox<HistoryOptions> = async (
  app,
  { historyAdministration, audit },
) => {
  const collection = '/admin/users/:user_id/history'

  app.get(collection, HISTORY.list, async (request) => {
    const { name, limit = DEFAULT_PAGE_LIMIT, cursor } = request.query
    const found = await historyAdministration.list({
      userId: request.params.user_id,
      name: nameOf(name),
      after: cursor === undefined ? undefined : parseCursor(cursor, endIn),
      limit,
    })
    return historyPage(found)
  })

  app.post(`${collection}/:version/restore`, HISTORY.restore, async (request) => {
    const { user_id, version } = request.params
    const { name, overwrite = false } = request.body
    const { file, replaced } = await historyAdministration.restore({
      userId: user_id,
      version,
      name: nameOf(name),
      overwrite,
    })
    await audit(request, { action: 'history.restore', user_id, version, overwrite })
    return { name: file.name, version: file.version, size: file.size, replaced }
  })
}

function nameOf(name: string | undefined) {
  return name === undefined ? undefined : parseFileName(name)
}
