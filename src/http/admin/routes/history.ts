import { EVERY_NAME, parseFileName } from '../../../core/files/file-name.ts'
import { type Version, VERSION_PATTERN } from '../../../core/objects/object-key.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { FILE_NAME_SCHEMA, Query } from '../../openapi/parameters.ts'
import { Bytes, Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, parseCursor } from '../../routes/pagination.ts'
import {
  endIn,
  historyPage,
  HistoryPage,
  RESTORE_REQUEST,
  RestoreBody,
  VERSION,
} from '../../routes/past-version-resource.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const historyRoutes: OperatorPlugin = async (
  app,
  { useCases: { users, history }, audit },
) => {
  const preHandler = operatorHook(users, 'history')
  const collection = '/admin/users/:user_id/history'

  app.get(collection, { ...HISTORY.list, preHandler }, async (request) => {
    const { name, limit = DEFAULT_PAGE_LIMIT, cursor } = request.query
    const found = await history.list({
      subject: operatorOf(request),
      name: nameOf(name),
      prefix: EVERY_NAME,
      after: cursor === undefined ? undefined : parseCursor(cursor, endIn),
      limit,
    })
    return historyPage(found)
  })

  app.post(
    `${collection}/:version/restore`,
    { ...HISTORY.restore, preHandler },
    async (request) => {
      const { user_id, version } = request.params
      const { name, overwrite = false } = request.body
      const { file, replaced } = await history.restore({
        subject: operatorOf(request),
        version,
        name: nameOf(name),
        overwrite,
      })
      await audit(request, { action: 'history.restore', user_id, version, overwrite })
      return { name: file.name, version: file.version, size: file.size, replaced }
    },
  )
}

function nameOf(name: string | undefined) {
  return name === undefined ? undefined : parseFileName(name)
}

const QUERY = Query({
  name: Type.Optional(
    Type.String({ ...FILE_NAME_SCHEMA, description: 'Only versions that had this file name.' }),
  ),
  ...PAGE_QUERY.properties,
})

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
    querystring: QUERY,
    response: { 200: HistoryPage },
    responses: { 200: 'One page of the history of an active user.' },
    problems: ['not_found', 'user_suspended', 'invalid_file_name'],
  }),
  restore: ofUser({
    operationId: 'restoreUserVersion',
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
