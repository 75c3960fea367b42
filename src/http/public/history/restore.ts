import type { FastifyRequest } from 'fastify'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { PRECONDITIONS } from '../../openapi/parameters.ts'
import { committedFile, UploadedFile } from '../../routes/files/stored-file.ts'
import { STORED_EXAMPLE } from '../../routes/files/upload.openapi.ts'
import { RESTORE_REQUEST, RestoreBody } from '../../routes/history/past-version-resource.ts'
import { addRestore, pastVersion, RESTORE_ACTIONS } from '../../routes/history/restore.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { ofHistory, PAST_VERSION, VERSION_PARAM } from './past-version.ts'

export const restoreRoutes: UserPlugin = async (app, { useCases: { history } }) => {
  const onRequest = async (request: FastifyRequest) => {
    pastVersion(request)
    requireUser(request, RESTORE_ACTIONS)
  }
  addRestore(app, history, {
    route: { method: 'POST', url: `${PAST_VERSION}/restore`, ...RESTORE, onRequest },
    preconditionOf: ({ headers }, subject) =>
      narrowPrecondition(subject, parseWritePrecondition(headers)),
    show: committedFile,
  })
}

const RESTORE = ofHistory({
  operationId: 'restorePastVersion',
  summary: 'Make a replaced or deleted file current again',
  description:
    'The file has the same content, version and ETag as before. Nothing is copied. The preconditions are those of the ' +
    'current file with that name. A file that does not fit the capacity gets 403, and nothing changes.',
  parameters: { path: { version: VERSION_PARAM }, header: PRECONDITIONS },
  body: RestoreBody,
  json: { isOptional: true },
  jsonBody: RESTORE_REQUEST,
  response: { 200: UploadedFile },
  responses: { 200: { description: 'The file is current.', example: STORED_EXAMPLE } },
  problems: [
    'invalid_file_name',
    'not_found',
    'version_gone',
    'file_exists',
    'capacity_exceeded',
    'file_count_exceeded',
  ],
})
