import type { FastifyInstance } from 'fastify'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { ACTIONS } from '../../core/auth/scope.ts'
import type { Feed } from '../../core/changes/feed.ts'
import { AppError } from '../../core/errors.ts'
import type { Archives } from '../../core/files/archive.ts'
import type { Repository } from '../../core/files/repository.ts'
import type { History } from '../../core/history/history.ts'
import type { Links } from '../../core/links/links.ts'
import type { DownloadRedirect } from '../../core/objects/download-urls.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { ResumableUploads } from '../../core/resumable/resumable-uploads.ts'
import type { Downloads } from '../download/downloads.ts'
import type { FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { accessTokenPlugin, requireUser } from './access-token.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { capacityRoutes } from './capacity.ts'
import { changesRoutes } from './changes/changes.ts'
import { archiveRoutes } from './files/archive.ts'
import { batchRoutes } from './files/batch.ts'
import { deleteRoutes } from './files/delete.ts'
import { downloadRoutes } from './files/download.ts'
import { listRoutes } from './files/list.ts'
import { updateRoutes } from './files/update.ts'
import { uploadRoutes } from './files/upload.ts'
import { historyRoutes } from './history/history.ts'
import { ownLinkRoutes } from './links/own-links.ts'
import type { ReadInTurn } from './listing-turns.ts'
import type { LoopShares } from './loop-shares.ts'
import { resumableRoutes } from './uploads/resumable.ts'

export interface PublicUseCases {
  readonly repository: Repository
  readonly history: History
  readonly archives: Archives
  readonly uploads: ResumableUploads
  readonly feed: Feed
  readonly accessTokens: AccessTokens
  readonly links: Links
  readonly readiness: Readiness
}

export interface Limits {
  readonly maxFiles: number
  /** In bytes. */
  readonly maxFileSize: number
}

export interface UserRoutesOptions {
  readonly useCases: PublicUseCases
  readonly limits: Limits
  readonly downloads: Downloads
  readonly redirect: DownloadRedirect | undefined
  readonly basePath: string
  readonly allowedOrigins: readonly string[]
  readonly shares: LoopShares
  readonly readInTurn: ReadInTurn
}

export type UserRoutes = FastifyPluginAsyncTypebox<UserRoutesOptions>

const ROUTES = [
  uploadRoutes,
  downloadRoutes,
  deleteRoutes,
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
