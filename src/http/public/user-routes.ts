import type { FastifyInstance } from 'fastify'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { accessTokenPlugin } from './access-token.ts'
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
  const others = otherMethods(app, { '/users/me/repo/*': ['GET', 'HEAD'] })
  for (const routes of ROUTES) await app.register(routes, options)
  await app.register(others)
}
