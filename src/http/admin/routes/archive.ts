import type { Archives } from '../../../core/files/archive.ts'
import type { Users } from '../../../core/users/users.ts'
import type { Downloads } from '../../download/downloads.ts'
import type { Operation } from '../../openapi/operation.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { addArchiveRoutes } from '../../routes/archive.ts'
import { ARCHIVE_QUERY, ARCHIVE_RESPONSES, readNames } from '../../routes/archive-query.ts'
import { readAtOnce } from '../../routes/pagination.ts'
import type { Audited } from '../audit.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { OF_USER } from '../route-schemas.ts'

interface ArchiveOptions extends Audited {
  readonly archives: Archives
  readonly downloads: Downloads
  readonly users: Pick<Users, 'find'>
}

export const archiveRoutes: FastifyPluginAsyncTypebox<ArchiveOptions> = async (
  app,
  { archives, downloads, users, audit },
) => {
  addArchiveRoutes(
    app,
    { downloads, archives },
    {
      url: '/admin/users/:user_id/archive',
      route: {
        schema: { params: OF_USER.params, querystring: ARCHIVE_QUERY },
        config: { operation: ARCHIVE },
        preValidation: readNames,
        preHandler: operatorHook(users, 'files'),
      },
      readList: readAtOnce,
      reader: () => ({ owner: 'operator', isUser: true }),
      async onListed(request, files) {
        const { userId: user_id } = operatorOf(request)
        await audit(request, { action: 'files.archive', user_id, files })
      },
    },
  )
}

const ARCHIVE = {
  tag: 'files',
  operationId: 'downloadUserArchive',
  summary: "Download a user's files as one ZIP archive",
  description: 'Also for a suspended user. The audit trail has each request.',
  responses: ARCHIVE_RESPONSES,
  problems: ['not_found', 'invalid_file_name', 'archive_too_large', 'too_many_requests'],
} as const satisfies Operation
