import { type Version, VERSION_PATTERN } from '../../../core/objects/object-key.ts'
import { Bytes, Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { readAtOnce } from '../../routes/pagination.ts'
import { addHistoryList, HISTORY_PARAMETERS, HISTORY_QUERY } from '../../routes/history/list.ts'
import {
  HistoryPage,
  RESTORE_REQUEST,
  RestoreBody,
  VERSION,
} from '../../routes/history/past-version-resource.ts'
import { addRestore } from '../../routes/history/restore.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const historyRoutes: OperatorPlugin = async (
  app,
  { useCases: { users, history }, audit },
) => {
  const preHandler = operatorHook(users, 'history')
  const collection = '/admin/users/:user_id/history'

  addHistoryList(app, history, {
    route: { method: 'GET', url: collection, ...HISTORY.list, preHandler },
    readList: readAtOnce,
  })

  addRestore(app, history, {
    route: {
      method: 'POST',
      url: `${collection}/:version/restore`,
      ...HISTORY.restore,
      preHandler,
    },
    async onRestored(request, { version, overwrite }) {
      const { userId: user_id } = operatorOf(request)
      await audit(request, { action: 'history.restore', user_id, version, overwrite })
    },
    show: (_subject, { file, replaced }) => ({
      name: file.name,
      version: file.version,
      size: file.size,
      replaced,
    }),
  })
}

const OfVersion = Type.Object({
  user_id: USER_PARAM,
  version: Type.Unsafe<Version>({
    type: 'string',
    pattern: VERSION_PATTERN,
    description: 'The version of the file.',
    examples: [VERSION],
  }),
})

const RestoredFile = Type.Object(
  {
    name: Text('The name of the file.', 'README.md'),
    version: Text('Its version.', VERSION),
    size: Bytes('Its size in bytes.', 6143),
    replaced: Type.Boolean({ description: 'Whether it replaced another file.' }),
  },
  { title: 'RestoredFile' },
)

const ofUser = describingUser({ tag: 'history' })

const HISTORY = {
  list: ofUser({
    operationId: 'listUserHistory',
    summary: 'List the files that a user has replaced or deleted, newest end first',
    querystring: HISTORY_QUERY,
    parameters: HISTORY_PARAMETERS,
    response: { 200: HistoryPage },
    responses: {
      200:
        'One page of the history of an active user. With a `prefix`, it can have fewer versions than `limit`, or none, and ' +
        'still a `next_cursor`.',
    },
    problems: ['not_found', 'user_suspended', 'invalid_file_name'],
  }),
  restore: ofUser({
    operationId: 'restoreUserVersion',
    role: 'support',
    summary: 'Make a replaced or deleted file of a user current again',
    params: OfVersion,
    body: RestoreBody,
    jsonBody: RESTORE_REQUEST,
    response: { 200: RestoredFile },
    responses: { 200: { description: 'The file is current.', example: { replaced: false } } },
    problems: [
      'not_found',
      'user_suspended',
      'invalid_file_name',
      'version_gone',
      'file_exists',
      'capacity_exceeded',
      'file_count_exceeded',
    ],
  }),
}
