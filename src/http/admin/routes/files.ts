import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Page } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import {
  askedListing,
  LISTING_MEMBERS,
  LISTING_QUERY,
  listingReply,
  SHORT_PAGES,
} from '../../routes/file-listing.ts'
import { fileNameParam } from '../../routes/file-resource.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const fileRoutes: OperatorPlugin = async (
  app,
  { useCases: { users, repository }, audit },
) => {
  const preHandler = operatorHook(users, 'files')
  const collection = '/admin/users/:user_id/files'

  app.get(collection, { ...FILES.list, preHandler }, async (request) => {
    const { user_id } = request.params
    const asked = askedListing(request)
    const viewer = operatorOf(request)
    const listed = await repository.list({ userId: user_id, viewer, ...asked })
    await audit(request, { action: 'files.list', user_id, files: listed.files.length })
    return listingReply(listed, asked)
  })

  app.delete(
    `${collection}/:file_name`,
    { ...FILES.remove, preHandler },
    async (request, reply) => {
      const { user_id, file_name } = request.params
      const version = await repository.remove({
        subject: operatorOf(request),
        name: fileNameParam(file_name),
        precondition: parseWritePrecondition(request.headers),
      })
      await audit(request, { action: 'file.delete', user_id, version })
      return reply.code(204).send()
    },
  )
}

const FilePage = Page('FilePage', LISTING_MEMBERS, 'One page of a listing.')

const ofUser = describingUser({ tag: 'files' })

const AUDITED = 'Also for a suspended user. The audit trail has each request.'

const FILES = {
  list: ofUser({
    operationId: 'listUserFiles',
    summary: "List a user's files",
    description: AUDITED,
    querystring: LISTING_QUERY,
    response: { 200: FilePage },
    responses: { 200: `One page of all files of the user. ${SHORT_PAGES}` },
    problems: ['not_found'],
  }),
  remove: ofUser({
    operationId: 'deleteUserFile',
    summary: 'Delete a file of a user',
    description: `As if the user had deleted it: it becomes history. ${AUDITED}`,
    params: Type.Object({ user_id: USER_PARAM, file_name: Type.String() }),
    parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
    responses: { 204: 'The file is deleted and its bytes are available again.' },
    problems: ['not_found', 'invalid_file_name'],
  }),
}
