import type { FastifyContextConfig } from 'fastify'
import type { Repository } from '../../../core/files/repository.ts'
import { fileNameParam } from '../file-resource.ts'
import { requireUser } from '../access-token.ts'
import { ALWAYS, OWN_WRITE } from '../../openapi/problem-responses.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { discardBody } from '../../body/discard-body.ts'

const Params = Type.Object({ file_name: Type.String() })

export interface DeleteOptions {
  readonly repository: Repository
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
}

/** `DELETE /users/me/repo/{file_name}`: the file is gone and its bytes are free again. */
export const deleteRoutes: FastifyPluginAsyncTypebox<DeleteOptions> = async (
  app,
  { repository, idleTimeoutMs, shutdown },
) => {
  app.delete(
    '/users/me/repo/:file_name',
    { schema: { params: Params }, config: REMOVAL },
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

const REMOVAL = {
  operation: {
    operationId: 'deleteFile',
    summary: 'Delete an own file',
    tag: 'files',
    credentials: 'required',
    parameters: [FILE_NAME, ...PRECONDITIONS],
    responses: { 204: { description: 'The file is gone and its bytes are free again.' } },
    problems: [...ALWAYS, ...OWN_WRITE, 'truncated_body', 'not_found'],
  },
} as const satisfies FastifyContextConfig
