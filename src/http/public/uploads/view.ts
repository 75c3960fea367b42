import { coversName, mayFinish, type Scoped } from '../../../core/auth/scope.ts'
import { VISIBILITIES, type Visibility } from '../../../core/files/file.ts'
import type { FoundUpload } from '../../../core/resumable/resumable-uploads.ts'
import { metadataValues } from '../../../core/resumable/upload-metadata.ts'
import { UNFINISHED_STATES, unfinishedState } from '../../../core/resumable/upload-state.ts'
import type { Operation } from '../../openapi/operation.ts'
import { Page, Strings } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { type SeenFile, seenFile, SeenFileReply } from '../../routes/file-resource.ts'
import { PAGE_QUERY, readPage } from '../../routes/pagination.ts'
import { pagedUploads, uploadMembers, uploadSchemas } from '../../routes/upload-resource.ts'
import { requireUser } from '../access-token.ts'
import type { UserRoutes } from '../user-routes.ts'
import { UPLOAD_ID_PARAM } from './operations.ts'
import { noteOffset, ownUpload, UPLOAD_PATH, UPLOADS_PATH } from './upload-access.ts'

export const UploadReply = Type.Object(
  {
    ...uploadSchemas([...UNFINISHED_STATES, 'finished']),
    visibility: Type.Unsafe<Visibility | null>({
      type: ['string', 'null'],
      enum: [...VISIBILITIES, null],
      description:
        'As specified at the creation; `null` keeps the visibility of the replaced file.',
      examples: [null],
    }),
    metadata: Strings('The decoded `Upload-Metadata`.', { filename: 'film.mov' }),
    file: Type.Unsafe<SeenFile | null>({
      ...SeenFileReply,
      title: 'FileOrNull',
      type: ['object', 'null'],
      description:
        'The file, if the upload is finished and the file has not been replaced since. A token that may not `read` the ' +
        'file gets `name` and `user_id` alone.',
      examples: [null],
    }),
  },
  { title: 'Upload', description: 'A resumable upload.' },
)

export function uploadReply(caller: Scoped, { upload, file }: FoundUpload) {
  const { visibility, metadata } = upload
  return {
    ...uploadMembers(upload, upload.state === 'finished' ? 'finished' : unfinishedState(upload)),
    visibility: visibility ?? null,
    metadata: Object.fromEntries(metadataValues(metadata)),
    file: file === undefined ? null : seenFile(caller, file),
  }
}

export const UploadPage = Page(
  'UploadPage',
  { uploads: Type.Array(UploadReply) },
  'A page of unfinished uploads.',
)

export const uploadViewRoutes: UserRoutes = async (app, { useCases: { uploads }, readInTurn }) => {
  app.get(
    UPLOAD_PATH,
    { schema: { response: { 200: UploadReply } }, config: { operation: LOOK } },
    async (request) => {
      const named = await ownUpload(request, uploads)
      const caller = named.subject
      const { upload, file } = await uploads.find(named)
      noteOffset(request, upload.offset)
      // It may have been renamed since.
      const isShown = file !== undefined && coversName(caller, file.name)
      return uploadReply(caller, { upload, file: isShown ? file : undefined })
    },
  )

  app.route({
    method: ['GET', 'HEAD'],
    url: UPLOADS_PATH,
    schema: { querystring: PAGE_QUERY, response: { 200: UploadPage } },
    config: { operation: LIST },
    onRequest: async (request) => void requireUser(request, ['create', 'replace']),
    handler: async (request, reply) => {
      const caller = requireUser(request, ['create', 'replace'])
      const list = pagedUploads((page) =>
        readInTurn(reply, () => uploads.list({ subject: caller, ...page })),
      )
      const { entries, next_cursor } = await readPage(request.query, list)
      const own = entries.filter((upload) => mayFinish(caller, upload))
      return {
        uploads: own.map((upload) => uploadReply(caller, { upload, file: undefined })),
        next_cursor,
      }
    },
  })
}

const LOOK = {
  tag: 'uploads',
  operationId: 'getUpload',
  summary: 'Describe an upload',
  description: 'Does not stop a running append, and does not require `Tus-Resumable`.',
  parameters: { path: { upload_id: UPLOAD_ID_PARAM } },
  responses: { 200: { description: 'The upload.', headers: ['Cache-Control'] } },
  problems: ['not_found', 'upload_gone'],
} as const satisfies Operation

const LIST = {
  tag: 'uploads',
  operationId: 'listUploads',
  summary: 'List the unfinished uploads',
  responses: {
    200: {
      description: 'A page of the unfinished uploads, oldest first.',
      headers: ['Cache-Control'],
    },
  },
} as const satisfies Operation
