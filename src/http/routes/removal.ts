import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Repository } from '../../core/repository.ts'
import { fileNameParam } from '../file-name-param.ts'
import { requireUser } from '../plugins/access-token.ts'
import { parseWritePrecondition } from '../preconditions.ts'

const Params = Type.Object({ file_name: Type.String() })

/** `DELETE /users/me/repo/{file_name}`: the file is gone and its bytes are free again. */
export const removalRoutes: FastifyPluginAsyncTypebox<{ readonly repository: Repository }> = async (
  app,
  { repository },
) => {
  app.delete(
    '/users/me/repo/:file_name',
    { schema: { params: Params } },
    async (request, reply) => {
      const { userId } = requireUser(request)
      const name = fileNameParam(request.params.file_name)
      await repository.remove({
        userId,
        name,
        precondition: parseWritePrecondition(request.headers),
      })
      return reply.code(204).send()
    },
  )
}
