import type { FastifyRequest } from 'fastify'
import { assertCovers, narrowPrecondition, type Scoped } from '../../../core/auth/scope.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { PRECONDITIONS } from '../../openapi/parameters.ts'
import { RESTORE_REQUEST, RestoreBody } from '../../routes/past-version-resource.ts'
import { requireUser } from '../access-token.ts'
import { committedFile, UploadedFile } from '../../routes/files/stored-file.ts'
import { STORED_EXAMPLE } from '../../routes/files/upload.openapi.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { ofHistory, PAST_VERSION, pastVersion, VERSION_PARAM } from './past-version.ts'

export const restoreRoutes: UserPlugin = async (app, { useCases: { history } }) => {
  const onRequest = async (request: FastifyRequest) => {
    pastVersion(request)
    requireUser(request, RESTORE_ACTIONS)
  }
  app.post(`${PAST_VERSION}/restore`, { ...RESTORE, onRequest }, async (request) => {
    const { subject, version } = pastVersion(request)
    const { name, overwrite } = permittedRestore(subject, request.body)
    const precondition = narrowPrecondition(subject, parseWritePrecondition(request.headers))
    const restored = await history.restore({ subject, version, name, overwrite, precondition })
    return committedFile(subject, restored)
  })
}

/** Besides `history`, a restore needs one of these: it puts a file under a name, as an upload does. */
export const RESTORE_ACTIONS = ['create', 'replace'] as const

/**
 * The name and what happens to a file that has it. Throws `invalid_file_name`, and `scope_insufficient` for a name outside
 * the prefix.
 */
export function permittedRestore(
  caller: Scoped,
  asked: { readonly name?: string | undefined; readonly overwrite?: boolean | undefined },
): { readonly name: FileName | undefined; readonly overwrite: boolean } {
  const name = asked.name === undefined ? undefined : parseFileName(asked.name)
  if (name !== undefined) assertCovers(caller, name)
  return { name, overwrite: asked.overwrite ?? false }
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
