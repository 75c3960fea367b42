import type { FastifyReply } from 'fastify'
import { shownName, type Subject } from '../../../core/auth/subject.ts'
import { extentOf } from '../../../core/files/open-content.ts'
import { discardBody as discardContent } from '../../../core/objects/object-store.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { serveContent } from '../../download/serve-content.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { Bytes, EXAMPLE_SHA256, Text } from '../../openapi/reply-schemas.ts'
import { type FastifyPluginAsyncTypebox, Type } from '../../openapi/type.ts'
import { CONDITIONS, CONTENT_RESPONSES } from '../../routes/files/download.openapi.ts'
import { namedFile } from '../../routes/files/file-resource.ts'
import { addUploads } from '../../routes/files/upload.ts'
import { formBody, RAW_UPLOAD, REPR_DIGEST } from '../../routes/files/upload.openapi.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import { LINK_FILE_PATH, type LinkOptions, visitorOf } from './visit.ts'

/** Downloads and drops by a link. Registered below `requireLink`. */
export const linkFileRoutes: FastifyPluginAsyncTypebox<LinkOptions> = async (app, options) => {
  const { useCases, downloads } = options
  const { links, repository } = useCases
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

  addUploads(app, repository, {
    url: LINK_FILE_PATH,
    form: { ...DROP_FORM, show },
    body: { ...DROP_BODY, show },
    admit: (request) => links.beginDrop(visitorOf(request, 'create')),
  })
}

function show(_reply: FastifyReply, subject: Subject, { file }: CommittedUpload) {
  return { name: shownName(subject, file.name), size: file.size, sha256: file.sha256 }
}

const DroppedFile = Type.Object(
  {
    name: Text('The name of the file, without the prefix of the link.', 'report.pdf'),
    size: Bytes('Size of the content, in bytes.', 6143),
    sha256: Text('SHA-256 of the content, in lower-case hexadecimal.', EXAMPLE_SHA256),
  },
  { title: 'DroppedFile', description: 'The stored file.' },
)

const PATH = { secret: LINK_SECRET, file_name: FILE_NAME }

const DOWNLOAD = {
  tag: 'links',
  credentials: 'none',
  operationId: 'downloadByLink',
  summary: 'Download a file by a link, or a range of it',
  description:
    'Each time as many bytes are sent as the file has counts as a use of the link. The password of the link, if it has one, is sent ' +
    'as HTTP Basic authentication with any user name.',
  parameters: { path: PATH, header: CONDITIONS },
  responses: CONTENT_RESPONSES,
  problems: ['not_found', 'link_password_required', 'precondition_failed', 'range_not_satisfiable'],
} as const satisfies Operation

const DROP_PROBLEMS = [
  'not_found',
  'link_password_required',
  'file_exists',
  'file_too_large',
  'digest_mismatch',
  'capacity_exceeded',
] as const

const DROP = {
  description:
    'Never replaces a file. Queries and fields for the visibility or expiry of the file are ignored.',
  parameters: { path: PATH, header: { 'Repr-Digest': REPR_DIGEST } },
  response: { 200: DroppedFile },
  responses: { 200: { description: 'The file is stored.' } },
} as const

const DROP_FORM = ofLinks({
  ...DROP,
  operationId: 'dropForm',
  summary: 'Send a file by a drop link, as a form',
  requestBody: formBody(
    {},
    'The content, in one part with a `filename` parameter, whose value is ignored.',
  ),
  problems: [...DROP_PROBLEMS, 'missing_file_part', 'multiple_file_parts'],
})

const DROP_BODY = ofLinks({
  ...DROP,
  operationId: 'dropFile',
  summary: 'Send a file by a drop link, as the body',
  requestBody: RAW_UPLOAD.requestBody,
  problems: DROP_PROBLEMS,
})
