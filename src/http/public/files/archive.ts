import { assertCovers, narrowPrefix, type Scoped } from '../../../core/auth/scope.ts'
import type { SelectedFiles } from '../../../core/files/file-ledger.ts'
import { archiveOf, serveArchive } from '../../download/serve-archive.ts'
import type { Operation } from '../../openapi/operation.ts'
import { ownerOf } from '../../server/reader-slots.ts'
import {
  ARCHIVE_QUERY,
  ARCHIVE_RESPONSES,
  readNames,
  selectedFiles,
} from '../../routes/archive-query.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'

export const archiveRoutes: UserPlugin = async (
  app,
  { useCases: { archives }, downloads, readInTurn },
) => {
  serveArchive(
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
      reader: ownerOf,
      list: async (request, reply) => {
        const caller = requireUser(request, ['read'])
        const selected = within(caller, selectedFiles(request))
        const files = await readInTurn(reply, () => archives.list(caller, selected))
        return { name: archiveOf(caller.userId), files }
      },
    },
  )
}

/** Throws `scope_insufficient` for names outside the token's prefix. */
function within(scoped: Scoped, selected: SelectedFiles): SelectedFiles {
  if (selected.names === undefined) return { prefix: narrowPrefix(scoped, selected.prefix) }
  for (const name of selected.names) assertCovers(scoped, name)
  return selected
}

const ARCHIVE = {
  tag: 'files',
  operationId: 'downloadArchive',
  summary: "Download several of the caller's files as one ZIP archive",
  responses: ARCHIVE_RESPONSES,
  problems: ['not_found', 'invalid_file_name', 'archive_too_large'],
} as const satisfies Operation
