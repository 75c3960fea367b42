import type { FastifyContextConfig } from 'fastify'
import { type FileRouteOptions, OWN_FILE_PATH, ownFile, OwnFileParams } from '../file-resource.ts'
import { ALWAYS, OWN_WRITE } from '../../openapi/problem-responses.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { discardBody } from '../../body/discard-body.ts'

/** `DELETE /users/me/repo/{file_name}`: the file is gone and its bytes are free again. */
export const deleteRoutes: FastifyPluginAsyncTypebox<FileRouteOptions> = async (app, options) => {
  const { repository, idleTimeoutMs, shutdown: signal } = options
  const route = { schema: { params: OwnFileParams }, config: REMOVAL }
  app.delete(OWN_FILE_PATH, route, async (request, reply) => {
    const file = ownFile(request)
    const precondition = parseWritePrecondition(request.headers)
    await discardBody({ request, reply }, { signal, idleTimeoutMs })
    await repository.remove({ ...file, precondition })
    return reply.code(204).send()
  })
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
