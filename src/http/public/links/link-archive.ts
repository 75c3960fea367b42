import type { FastifyInstance } from 'fastify'
import { archiveTooLarge } from '../../../core/files/archive.ts'
import { wholeUsesLeft } from '../../../core/links/link.ts'
import type { Operation } from '../../openapi/operation.ts'
import { addArchiveRoutes } from '../../routes/archive.ts'
import { ARCHIVE_RESPONSES } from '../../routes/archive-query.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, type LinkOptions, visitorOf } from './visit.ts'

/** All files of a download link in one archive. Registered below `requireLink`. */
export async function linkArchiveRoutes(
  app: FastifyInstance,
  { useCases: { archives, links }, downloads, readInTurn }: LinkOptions,
): Promise<void> {
  addArchiveRoutes(
    app,
    { downloads, archives },
    {
      // Ends in a slash, because a file may have the name `archive`.
      url: `${LINK_PATH}/archive/`,
      route: { config: { operation: ARCHIVE } },
      readList: readInTurn,
      async onListed(request, files) {
        const left = wholeUsesLeft(visitorOf(request, 'read').link)
        if (left !== undefined && files > left) throw archiveTooLarge(left)
      },
      onBegun: (request, files) => links.countArchive(visitorOf(request, 'read'), files),
    },
  )
}

const ARCHIVE = {
  tag: 'links',
  credentials: 'none',
  operationId: 'downloadArchiveByLink',
  summary: 'Download all files of a link as one ZIP archive',
  description:
    'Counts as one use of the link for each file, once it begins. The path ends in a slash.',
  parameters: { path: { secret: LINK_SECRET } },
  responses: ARCHIVE_RESPONSES,
  problems: ['not_found', 'link_password_required', 'archive_too_large'],
} as const satisfies Operation
