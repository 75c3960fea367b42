import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Page } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { LISTING_MEMBERS, LISTING_QUERY, SHORT_PAGES } from '../../routes/files/file-listing.ts'
import { addFileList } from '../../routes/files/list.ts'
import { addFileRemoval } from '../../routes/files/remove.ts'
import { readAtOnce } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const fileRoutes: OperatorPlugin = async (
  app,
  { useCases: { users, repository }, audit },
) => {
  const preHandler = operatorHook(users, 'files')
  const collection = '/admin/users/:user_id/files'

  addFileList(app, repository, {
    route: { method: 'GET', url: collection, ...FILES.list, preHandler },
    readList: readAtOnce,
    readerOf(request) {
      const viewer = operatorOf(request)
      return { userId: viewer.userId, viewer }
    },
    async onListed({ request }, files) {
      const { userId: user_id } = operatorOf(request)
      await audit(request, { action: 'files.list', user_id, files })
    },
  })

  addFileRemoval(app, repository, {
    route: { method: 'DELETE', url: `${collection}/*`, ...FILES.remove, preHandler },
    async onRemoved(request, version) {
      const { userId: user_id } = operatorOf(request)
      await audit(request, { action: 'file.delete', user_id, version })
    },
  })
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
    role: 'support',
    summary: 'Delete a file of a user',
    description: `As if the user had deleted it: it becomes history. ${AUDITED}`,
    params: Type.Object({ user_id: USER_PARAM, '*': Type.String() }),
    parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
    responses: { 204: 'The file is deleted and its bytes are available again.' },
    problems: ['not_found', 'invalid_file_name'],
  }),
}
