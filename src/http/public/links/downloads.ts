import type { FastifyInstance } from 'fastify'
import { extentOf } from '../../../core/files/open-content.ts'
import { discardBody as discardContent } from '../../../core/objects/object-store.ts'
import { serveContent } from '../../download/serve-content.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { CONDITIONS, CONTENT_RESPONSES } from '../../routes/files/download.openapi.ts'
import { namedFile } from '../../routes/files/file-resource.ts'
import { LINK_SECRET } from './link-resource.ts'
import { LINK_FILE_PATH, type LinkOptions, visitorOf } from './visitor.ts'

/** The files that a download link gives. Registered below `requireLink`. */
export async function linkDownloadRoutes(
  app: FastifyInstance,
  { useCases: { links, repository }, downloads }: LinkOptions,
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
}

const DOWNLOAD = {
  tag: 'links',
  credentials: 'none',
  operationId: 'downloadLinkedFile',
  summary: 'Download a file by a link, or a range of it',
  description:
    'Each time as many bytes are sent as the file has counts as a use of the link. The password of the link, if it has one, is sent ' +
    'as HTTP Basic authentication with any user name.',
  parameters: { path: { secret: LINK_SECRET, file_name: FILE_NAME }, header: CONDITIONS },
  responses: CONTENT_RESPONSES,
  problems: ['not_found', 'link_password_required', 'precondition_failed', 'range_not_satisfiable'],
} as const satisfies Operation
