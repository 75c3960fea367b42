import { type Version, VERSION_PATTERN } from '../../../core/objects/object-key.ts'
import { UNFINISHED_STATES, unfinishedState } from '../../../core/resumable/upload-state.ts'
import { Page } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readAtOnce } from '../../routes/pagination.ts'
import { addUploadList } from '../../routes/uploads/list.ts'
import { UPLOAD_ID, uploadMembers, uploadSchemas } from '../../routes/uploads/upload-resource.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const uploadRoutes: OperatorPlugin = async (
  app,
  { useCases: { users, uploads }, audit },
) => {
  const preHandler = operatorHook(users, 'uploads')
  const collection = '/admin/users/:user_id/uploads'

  addUploadList(app, uploads, {
    route: { method: 'GET', url: collection, ...UPLOADS.list, preHandler },
    readList: readAtOnce,
    show: (_subject, upload) => uploadMembers(upload, unfinishedState(upload)),
  })

  app.delete(
    `${collection}/:upload_id`,
    { ...UPLOADS.cancel, preHandler },
    async (request, reply) => {
      const { user_id, upload_id } = request.params
      await uploads.cancel({ subject: operatorOf(request), version: upload_id })
      await audit(request, { action: 'upload.cancel', user_id, upload_id })
      return reply.code(204).send()
    },
  )
}

const Upload = Type.Object(uploadSchemas(UNFINISHED_STATES), {
  title: 'UnfinishedUpload',
  description: 'An unfinished resumable upload.',
})

const UnfinishedUploadPage = Page('UnfinishedUploadPage', { uploads: Type.Array(Upload) })

const OfUpload = Type.Object({
  user_id: USER_PARAM,
  upload_id: Type.Unsafe<Version>({
    type: 'string',
    pattern: VERSION_PATTERN,
    description: 'The `upload_id` of an upload.',
    examples: [UPLOAD_ID],
  }),
})

const ofUser = describingUser({ tag: 'uploads' })

const UPLOADS = {
  list: ofUser({
    operationId: 'listUnfinishedUploads',
    summary: "List a user's unfinished resumable uploads, oldest first",
    querystring: PAGE_QUERY,
    response: { 200: UnfinishedUploadPage },
    responses: { 200: 'One page of unfinished uploads.' },
    problems: ['not_found'],
  }),
  cancel: ofUser({
    operationId: 'cancelUnfinishedUpload',
    role: 'support',
    summary: 'Cancel an unfinished upload, which releases its reservation',
    description:
      'A repeated request gets 204 for 15 minutes, then 404. A finished upload cannot be cancelled.',
    params: OfUpload,
    responses: { 204: 'The upload has ended without a file.' },
    problems: ['not_found', 'upload_gone'],
  }),
}
