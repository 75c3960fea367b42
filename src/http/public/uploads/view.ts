import { coversName, type Scoped } from '../../../core/auth/scope.ts'
import { VISIBILITIES, type Visibility } from '../../../core/files/file.ts'
import type { FoundUpload } from '../../../core/resumable/resumable-uploads.ts'
import { metadataValues } from '../../../core/resumable/upload-metadata.ts'
import { UNFINISHED_STATES, unfinishedState } from '../../../core/resumable/upload-state.ts'
import type { Operation } from '../../openapi/operation.ts'
import { Page, Strings } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { type SeenFile, seenFile, SeenFileReply } from '../../routes/files/file-resource.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { addUploadList } from '../../routes/uploads/list.ts'
import { UPLOAD_ID_PARAM } from '../../routes/uploads/operations.ts'
import { namedUpload, noteOffset, UPLOAD_ACTIONS } from '../../routes/uploads/requested-upload.ts'
import { uploadMembers, uploadSchemas } from '../../routes/uploads/upload-resource.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'

export const UPLOADS_PATH = '/users/me/uploads'
export const UPLOAD_PATH = `${UPLOADS_PATH}/:upload_id`

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
      title: 'FileOfUpload',
      type: ['object', 'null'],
      description:
        'The file, if the upload is finished and the file has not been replaced since. A token that may not `read` the ' +
        'file gets `name` and `user_id` alone.',
      examples: [null],
    }),
  },
  { title: 'Upload', description: 'A resumable upload.' },
)

export function uploadReply(subject: Scoped, { upload, file }: FoundUpload) {
  const { visibility, metadata } = upload
  return {
    ...uploadMembers(upload, upload.state === 'finished' ? 'finished' : unfinishedState(upload)),
    visibility: visibility ?? null,
    metadata: Object.fromEntries(metadataValues(metadata)),
    file: file === undefined ? null : seenFile(subject, file),
  }
}

export const UploadPage = Page(
  'UploadPage',
  { uploads: Type.Array(UploadReply) },
  'A page of unfinished uploads.',
)

export const uploadViewRoutes: UserPlugin = async (app, { useCases: { uploads }, readInTurn }) => {
  app.get(
    UPLOAD_PATH,
    { schema: { response: { 200: UploadReply } }, config: { operation: LOOK } },
    async (request) => {
      const named = await namedUpload(request, uploads)
      const { subject } = named
      const { upload, file } = await uploads.find(named)
      noteOffset(request, upload.offset)
      // It may have been renamed since.
      const isShown = file !== undefined && coversName(subject, file.name)
      return uploadReply(subject, { upload, file: isShown ? file : undefined })
    },
  )

  addUploadList(app, uploads, {
    route: {
      method: ['GET', 'HEAD'],
      url: UPLOADS_PATH,
      schema: { querystring: PAGE_QUERY, response: { 200: UploadPage } },
      config: { operation: LIST },
      onRequest: async (request) => void requireUser(request, UPLOAD_ACTIONS),
    },
    readList: readInTurn,
    show: (subject, upload) => uploadReply(subject, { upload, file: undefined }),
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
