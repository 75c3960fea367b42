import { type OverviewReader, overviewJson } from '../../../core/overview/overview.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { logAudit } from '../audit.ts'
import { OVERVIEW } from './overview.openapi.ts'

export const overviewRoutes: FastifyPluginAsyncTypebox<{ overview: OverviewReader }> = async (
  app,
  { overview },
) => {
  app.get('/admin/overview', OVERVIEW, async (request) => {
    const read = await overview.read()
    logAudit(request, { action: 'overview.read' })
    return overviewJson(read)
  })
}
