import type { FastifyInstance } from 'fastify'
import { shownName } from '../../../core/auth/subject.ts'
import { archiveTooLarge } from '../../../core/files/archive.ts'
import { isFileName } from '../../../core/files/file-name.ts'
import { type Link, wholeUsesLeft } from '../../../core/links/link.ts'
import { archiveOf, serveArchive } from '../../download/serve-archive.ts'
import type { Operation } from '../../openapi/operation.ts'
import { ownerOf } from '../../server/reader-slots.ts'
import { ARCHIVE_RESPONSES } from '../../routes/archive-query.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_PATH, type LinkOptions, visitorOf } from './visit.ts'

/** Ends in a slash, because a file may have the name `archive`. */
const LINK_ARCHIVE = `${LINK_PATH}/archive/`

/** All files of a download link in one archive. Registered below `requireLink`. */
export async function linkArchiveRoutes(
  app: FastifyInstance,
  { useCases: { archives, links }, downloads, readInTurn }: LinkOptions,
): Promise<void> {
  serveArchive(
    app,
    { downloads, archives },
    {
      url: LINK_ARCHIVE,
      route: { config: { operation: ARCHIVE } },
      reader: ownerOf,
      async list(request, reply) {
        const visitor = visitorOf(request, 'read')
        const { link } = visitor
        const { name, prefix } = link.target
        const selected = prefix === undefined ? { names: [name] } : { prefix }
        const found = await readInTurn(reply, () => archives.list(visitor, selected))
        const files = found.flatMap((file) => {
          const visible = shownName(visitor, file.name)
          return visible === undefined ? [] : [{ ...file, name: visible }]
        })
        const left = wholeUsesLeft(link)
        if (left !== undefined && files.length > left) throw archiveTooLarge(left)
        return { name: archiveOf(titleOf(link)), files }
      },
      begin: (request, files) => links.countArchive(visitorOf(request, 'read'), files),
    },
  )
}

/** The label, which the page shows too, if it can be the name of a file. */
function titleOf({ label }: Link): string {
  return isFileName(`${label}.zip`) && label !== '' ? label : 'files'
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
