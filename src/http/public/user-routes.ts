import type { FastifyInstance } from 'fastify'
import { ACTIONS } from '../../core/auth/scope.ts'
import { AppError } from '../../core/errors.ts'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { accessTokenPlugin, requireUser } from './access-token.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { capacityRoutes } from './capacity.ts'
import { changesRoutes } from './changes/changes.ts'
import { archiveRoutes } from './files/archive.ts'
import { batchRoutes } from './files/batch.ts'
import { fileRoutes } from './files/file.ts'
import { listRoutes } from './files/list.ts'
import { updateRoutes } from './files/update.ts'
import { historyRoutes } from './history/history.ts'
import { ownLinkRoutes } from './links/own-links.ts'
import { resumableRoutes } from './uploads/resumable.ts'
import type { UserRoutesOptions } from './user-plugin.ts'

const ROUTES = [
  fileRoutes,
  updateRoutes,
  batchRoutes,
  listRoutes,
  archiveRoutes,
  historyRoutes,
  changesRoutes,
  capacityRoutes,
  resumableRoutes,
  accessTokenRoutes,
  ownLinkRoutes,
]

/** What users do with a token. The order is that of the OpenAPI document. */
export async function addUserRoutes(
  app: FastifyInstance,
  options: UserRoutesOptions,
): Promise<void> {
  const { useCases, allowedOrigins } = options
  await app.register(accessTokenPlugin, { accessTokens: useCases.accessTokens, allowedOrigins })
  // The route of any user's files serves these.
  const others = otherMethods(app, { '/users/me/repo/:file_name': ['GET', 'HEAD'] })
  for (const routes of ROUTES) await app.register(routes, options)
  refuseNestedNames(app)
  await app.register(others)
}

/** A slash inside a file name is `invalid_file_name` with every method. At either end, it is `not_found`. */
function refuseNestedNames(app: FastifyInstance): void {
  app.all<{ Params: Record<string, string> }>('/users/:user_id/repo/:file_name/*', {
    // Runs in `onRequest`, so that the type of the body does not matter.
    onRequest: async (request) => {
      const { user_id: userId, file_name: first, '*': rest } = request.params
      if (first === '' || rest === '') throw new AppError('not_found', NO_NAME)
      if (userId === 'me') requireUser(request, ACTIONS)
      throw new AppError('invalid_file_name', SLASH)
    },
    handler: () => undefined,
  })
}

const NO_NAME =
  'This path does not exist. A file name must be the last path segment, without a slash.'

const SLASH = 'A file name must be a single path segment, without a slash.'
