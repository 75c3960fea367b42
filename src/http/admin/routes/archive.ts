import type { Users } from '../../../core/users/users.ts'
import { archiveOf, serveArchive, type ServeArchiveOptions } from '../../download/serve-archive.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  ARCHIVE_QUERY,
  ARCHIVE_RESPONSES,
  readNames,
  selectedFiles,
} from '../../routes/archive-query.ts'
import type { Audited } from '../audit.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { OF_USER } from '../route-schemas.ts'

interface ArchiveOptions extends ServeArchiveOptions, Audited {
  readonly users: Pick<Users, 'find'>
}

export const archiveRoutes: FastifyPluginAsyncTypebox<ArchiveOptions> = async (app, options) => {
  serveArchive(app, options, {
    url: '/admin/users/:user_id/archive',
    route: {
      schema: { params: OF_USER.params, querystring: ARCHIVE_QUERY },
      config: { operation: ARCHIVE },
      preValidation: readNames,
      preHandler: operatorHook(options.users, 'files'),
    },
    reader: () => ({ owner: 'operator', isUser: true }),
    list: async (request) => {
      const operator = operatorOf(request)
      const user_id = operator.userId
      const files = await options.archives.list(operator, selectedFiles(request))
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
