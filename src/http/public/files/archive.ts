import type { Operation } from '../../openapi/operation.ts'
import { addArchiveRoutes } from '../../routes/archive.ts'
import { ARCHIVE_QUERY, ARCHIVE_RESPONSES, readNames } from '../../routes/archive-query.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'

export const archiveRoutes: UserPlugin = async (
  app,
  { useCases: { archives }, downloads, readInTurn },
) => {
  addArchiveRoutes(
    app,
    { downloads, archives },
    {
      url: '/users/me/archive',
      route: {
        schema: { querystring: ARCHIVE_QUERY },
        config: { operation: ARCHIVE },
        onRequest: async (request) => void requireUser(request, ['read']),
        preValidation: readNames,
      },
      readList: readInTurn,
    },
  )
}

const ARCHIVE = {
  tag: 'files',
  operationId: 'downloadArchive',
  summary: "Download several of the caller's files as one ZIP archive",
  responses: ARCHIVE_RESPONSES,
  problems: ['not_found', 'invalid_file_name', 'archive_too_large'],
} as const satisfies Operation
