import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AppError } from '../../core/errors.ts'
import { requireUser } from '../plugins/access-token.ts'

const Params = Type.Object({
  user_id: Type.String(),
  file_name: Type.String(),
  '*': Type.String(),
})

/**
 * Says of a path with a slash in the place of a file's name that this is no name, whatever the method. A slash at its
 * beginning or end makes it a path without a name, which is not ours.
 */
export const splitNameRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.all('/users/:user_id/repo/:file_name/*', { schema: { params: Params } }, (request) => {
    const { user_id: userId, file_name: first, '*': rest } = request.params
    if (userId === 'me') requireUser(request)
    if (first === '' || rest === '') {
      throw new AppError(
        'not_found',
        'There is nothing under this path. A file name is its last segment, without a slash.',
      )
    }
    throw new AppError(
      'invalid_file_name',
      'A file name is one segment of the path: it has no slash.',
    )
  })
}
