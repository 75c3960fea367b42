import type { FastifyInstance } from 'fastify'
import { archiveTooLarge } from '../../../core/files/archive.ts'
import { extentOf } from '../../../core/files/open-content.ts'
import { wholeUsesLeft } from '../../../core/links/link.ts'
import { discardBody as discardContent } from '../../../core/objects/object-store.ts'
import { serveContent } from '../../download/serve-content.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { addArchiveRoutes } from '../../routes/archive.ts'
import { ARCHIVE_RESPONSES } from '../../routes/archive-query.ts'
import { CONDITIONS, CONTENT_RESPONSES } from '../../routes/files/download.openapi.ts'
import { namedFile } from '../../routes/files/file-resource.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_FILE_PATH, LINK_PATH, type LinkOptions, visitorOf } from './visitor.ts'

/** What a download link gives: its files, and all of them in one archive. Registered below `requireLink`. */
export async function linkDownloadRoutes(
  app: FastifyInstance,
  { useCases: { archives, links, repository }, downloads, readInTurn }: LinkOptions,
): Promise<void> {
  // The URL would tell whose files these are, and one use of the link would be any number of downloads.
  const serving = { downloads, redirect: undefined }
  serveContent(app, serving, {
    url: LINK_FILE_PATH,
    route: { config: { operation: DOWNLOAD } },
    wanted(request) {
      const { name } = namedFile(request, ['read'])
      const viewer = visitorOf(request, 'read')
      return { userId: viewer.userId, name, viewer }
    },
    stat: (file) => repository.stat(file),
    open: async (file) => {
      const opened = await repository.open(file)
      const extent = extentOf(opened.selection)
      if (extent === 'nothing') return opened
      const { size } = opened.file
      const bytes = extent === 'whole' ? size : extent.last - extent.first + 1
      // Counted before the bytes are sent, so that no crash gives more, and once the content is open, so that a failure
      // costs nothing.
      const counted = links.countDownload(file.viewer, { bytes, size })
      const onCut = await counted.catch((error: unknown) => {
        const { body } = opened
        if (body !== undefined) discardContent({ body })
        throw error
      })
      return { ...opened, onCut }
    },
  })

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

const DOWNLOAD = {
  tag: 'links',
  credentials: 'none',
  operationId: 'downloadByLink',
  summary: 'Download a file by a link, or a range of it',
  description:
    'Each time as many bytes are sent as the file has counts as a use of the link. The password of the link, if it has one, is sent ' +
    'as HTTP Basic authentication with any user name.',
  parameters: { path: { secret: LINK_SECRET, file_name: FILE_NAME }, header: CONDITIONS },
  responses: CONTENT_RESPONSES,
  problems: ['not_found', 'link_password_required', 'precondition_failed', 'range_not_satisfiable'],
} as const satisfies Operation

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
