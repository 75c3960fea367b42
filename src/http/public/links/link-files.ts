import type { FastifyReply, FastifyRequest } from 'fastify'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import { extentOf } from '../../../core/files/open-content.ts'
import type { Links } from '../../../core/links/links.ts'
import { discardBody as discardContent } from '../../../core/objects/object-store.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import type { UploadTarget } from '../../../core/uploads/upload.ts'
import { serveContent } from '../../download/serve-content.ts'
import { assertWholeFile } from '../../headers/content-headers.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { Bytes, EXAMPLE_SHA256, Text } from '../../openapi/reply-schemas.ts'
import { type FastifyPluginAsyncTypebox, Type } from '../../openapi/type.ts'
import { CONDITIONS, CONTENT_RESPONSES } from '../../routes/files/download.openapi.ts'
import { ignoreContentType, receiveBody, receiveForm } from '../files/receive-file.ts'
import { formBody, RAW_UPLOAD, REPR_DIGEST } from '../../routes/files/upload.openapi.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import { LINK_FILE_PATH, type LinkOptions, visitedFile } from './visit.ts'

/** Downloads and drops by a link. Registered below `requireLink`. */
export const linkFileRoutes: FastifyPluginAsyncTypebox<LinkOptions> = async (app, options) => {
  const { useCases, downloads } = options
  const { links, repository } = useCases
  // The URL would tell whose files these are, and one use of the link would be any number of downloads.
  const serving = { downloads, redirect: undefined }
  serveContent(app, serving, {
    url: LINK_FILE_PATH,
    route: { config: { operation: DOWNLOAD } },
    wanted: (request) => visitedFile(request, 'read'),
    stat: async ({ visitor, name, visible }) => {
      const file = await repository.stat({ userId: visitor.userId, name, viewer: visitor })
      return { ...file, name: visible }
    },
    open: async ({ visitor, name, visible, select, signal }) => {
      const { userId } = visitor
      const opened = await repository.open({ userId, name, viewer: visitor, select, signal })
      const { file, body } = opened
      const extent = extentOf(opened.selection)
      const shown = { ...opened, file: { ...file, name: visible } }
      if (extent === 'nothing') return shown
      const { size } = file
      const bytes = extent === 'whole' ? size : extent.last - extent.first + 1
      // Counted before the bytes are sent, so that no crash gives more, and once the content is open, so that a failure
      // costs nothing.
      const counted = links.countDownload(visitor, { bytes, size })
      const onCut = await counted.catch((error: unknown) => {
        if (body !== undefined) discardContent({ body })
        throw error
      })
      return { ...shown, onCut }
    },
  })

  app.post(LINK_FILE_PATH, DROP_FORM, (request, reply) =>
    drop(request, links, (target) =>
      receiveForm(reply, repository, {
        target,
        visibility: () => undefined,
        metadata: () => undefined,
      }),
    ),
  )
  const put = { ...DROP_BODY, onRequest: ignoreContentType }
  app.put(LINK_FILE_PATH, put, (request: FastifyRequest, reply: FastifyReply) =>
    drop(request, links, (target) =>
      receiveBody(reply, repository, {
        target,
        visibility: undefined,
        metadata: undefined,
      }),
    ),
  )
}

/** Stores a file under a name that no file has. */
async function drop(
  request: FastifyRequest,
  links: Links,
  receive: (target: UploadTarget) => Promise<CommittedUpload>,
) {
  const { visitor, name, visible } = visitedFile(request, 'create')
  const { headers } = request
  assertWholeFile(headers)
  const sha256 = parseReprDigest(headers['repr-digest']?.toString())
  using _ = await links.beginDrop(visitor)
  const precondition = narrowPrecondition(visitor, undefined)
  const { file } = await receive({ subject: visitor, name, precondition, sha256 })
  return { name: visible, size: file.size, sha256: file.sha256 }
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
