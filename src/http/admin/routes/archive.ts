import { parseUserId } from '../../../core/users/user-id.ts'
import { archiveOf, serveArchive, type ServeArchiveOptions } from '../../download/serve-archive.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  ARCHIVE_QUERY,
  ARCHIVE_RESPONSES,
  readNames,
  selectedFiles,
} from '../../shared-routes/archive-query.ts'
import type { Audited } from '../audit.ts'
import { OF_USER } from '../route-schemas.ts'

export const archiveRoutes: FastifyPluginAsyncTypebox<ServeArchiveOptions & Audited> = async (
  app,
  options,
) => {
  serveArchive(app, options, {
    url: '/admin/users/:user_id/archive',
    route: {
      schema: { params: OF_USER.params, querystring: ARCHIVE_QUERY },
      config: { operation: ARCHIVE },
      preValidation: readNames,
    },
    reader: () => ({ owner: 'operator', isUser: true }),
    list: async (request) => {
      const params = request.params as { readonly user_id: string }
      const user_id = parseUserId(params.user_id)
      const files = await options.archives.listAny(user_id, selectedFiles(request))
      await options.audit(request, { action: 'files.archive', user_id, files: files.length })
      return { name: archiveOf(user_id), files }
    },
  })
}

const ARCHIVE = {
  tag: 'files',
  operationId: 'downloadUserArchive',
  summary: "Download a user's files as one ZIP archive",
  description: 'Also for a suspended user. The audit trail has each request.',
  responses: ARCHIVE_RESPONSES,
  problems: ['not_found', 'invalid_file_name', 'archive_too_large', 'too_many_requests'],
} as const satisfies Operation
