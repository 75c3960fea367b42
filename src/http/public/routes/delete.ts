import type { FastifyPluginAsync } from 'fastify'
import type { Repository } from '../../../core/files/repository.ts'
import { fileNameParam } from '../file-name-param.ts'
import { requireUser } from '../access-token.ts'
import { described } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { discardBody } from '../../body/discard-body.ts'

export interface DeleteOptions {
  readonly repository: Repository
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
}

/** `DELETE /users/me/repo/{file_name}`: the file is gone and its bytes are free again. */
export const deleteRoutes: FastifyPluginAsync<DeleteOptions> = async (
  app,
  { repository, idleTimeoutMs, shutdown },
) => {
  app.delete<{ Params: { file_name: string } }>(
    '/users/me/repo/:file_name',
    REMOVAL,
    async (request, reply) => {
      const caller = requireUser(request)
      const name = fileNameParam(request.params.file_name)
      const precondition = parseWritePrecondition(request.headers)
      await discardBody({ request, reply }, { signal: shutdown, idleTimeoutMs })
      await repository.remove({ ...caller, name, precondition })
      return reply.code(204).send()
    },
  )
}

const REMOVAL = described({
  operationId: 'deleteFile',
  summary: 'Delete an own file',
  tag: 'files',
  parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
  responses: { 204: 'The file is gone and its bytes are free again.' },
  problems: ['not_found'],
})
