import type { FastifyPluginAsync } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import { requireUser } from '../access-token.ts'

/**
 * Says of a path with a slash in the place of a file's name that this is no name, whatever the method. A slash at its
 * beginning or end makes it a path without a name, which is not ours.
 */
export const nestedNameRoutes: FastifyPluginAsync = async (app) => {
  app.all<{ Params: Record<string, string> }>('/users/:user_id/repo/:file_name/*', {
    // Refused before its body is looked at, whatever type that says it has.
    onRequest: async (request) => {
      const { user_id: userId, file_name: first, '*': rest } = request.params
      if (first === '' || rest === '') throw new AppError('not_found', NO_NAME)
      if (userId === 'me') requireUser(request)
      throw new AppError('invalid_file_name', SLASH)
    },
    handler: () => undefined,
  })
}

const NO_NAME =
  'There is nothing under this path. A file name is its last segment, without a slash.'

const SLASH = 'A file name is one segment of the path: it has no slash.'
