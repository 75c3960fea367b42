import type { FastifyInstance } from 'fastify'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { ACTIONS } from '../../core/auth/scope.ts'
import { AppError } from '../../core/errors.ts'
import type { Archives } from '../../core/files/archive.ts'
import type { Feed } from '../../core/changes/feed.ts'
import type { Links } from '../../core/links/links.ts'
import type { DownloadRedirect } from '../../core/objects/download-urls.ts'
import type { History } from '../../core/history/history.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { Repository } from '../../core/files/repository.ts'
import type { ResumableUploads } from '../../core/resumable/resumable-uploads.ts'
import { createListener, type ListenerContext } from '../server/listener.ts'
import type { RequestMeter } from '../server/request-outcome.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { accessTokenPlugin, requireUser } from './access-token.ts'
import { archiveRoutes } from './files/archive.ts'
import { updateRoutes } from './files/update.ts'
import { historyRoutes } from './history/history.ts'
import type { Downloads } from '../download/downloads.ts'
import { linkRoutes } from './links/links.ts'
import { ownLinkRoutes } from './links/own-links.ts'
import { changesRoutes } from './changes/changes.ts'
import { capacityRoutes } from './capacity.ts'
import { downloadRoutes } from './files/download.ts'
import { otherMethods } from '../shared-routes/method-not-allowed.ts'
import { healthRoutes } from '../shared-routes/health.ts'
import { listRoutes } from './files/list.ts'
import { createListingTurns, type ReadInTurn } from './listing-turns.ts'
import { LoopShares } from './loop-shares.ts'
import { openApiRoutes } from '../shared-routes/openapi.ts'
import { pageScope } from '../shared-routes/page.ts'
import { batchRoutes } from './files/batch.ts'
import { deleteRoutes } from './files/delete.ts'
import { ownSessionRoutes, sessionRoutes } from './session.ts'
import { resumableRoutes } from './uploads/resumable.ts'
import { uploadRoutes } from './files/upload.ts'
import type { PageFile, WebPage } from '../pages/static-assets.ts'

export interface AppOptions {
  readonly meter: RequestMeter
  readonly useCases: UseCases
  readonly limits: Limits
  readonly downloads: Downloads
  /** Prefix of every path, such as `/api`. May be empty. */
  readonly basePath: string
  /** Other origins whose pages may use the API with the user's cookie. */
  readonly allowedOrigins: readonly string[]
  /** If unset, the service sends all contents itself. */
  readonly redirect: DownloadRedirect | undefined
  /** If unset, the API does not describe itself. */
  readonly apiDocs: { readonly page: PageFile | undefined } | undefined
  /** If unset, nobody signs in: neither the page nor `POST /session` exists. */
  readonly page: WebPage | undefined
  /** What browsers show for a link; JSON if unset. */
  readonly linkPage: PageFile | undefined
}

interface UseCases {
  readonly repository: Repository
  readonly history: History
  readonly archives: Archives
  readonly uploads: ResumableUploads
  readonly feed: Feed
  readonly accessTokens: AccessTokens
  readonly links: Links
  readonly readiness: Readiness
}

interface Limits {
  readonly maxFiles: number
  /** In bytes. */
  readonly maxFileSize: number
  /** Maximum number of listings that are read at the same time. */
  readonly listings: number
}

/** Builds the public listener. The registrations, in order, are the map of the API. */
export async function buildApp(
  context: ListenerContext,
  options: AppOptions,
): Promise<FastifyInstance> {
  const { meter, useCases, limits, downloads, basePath, allowedOrigins, apiDocs, page } = options
  const { accessTokens, readiness } = useCases
  const app = await createListener(context, { meter, allowedOrigins, pathFault: nameFault })
  const prefix = basePath
  const others = otherMethods(app)
  const isRefusing = () => downloads.slots.isRefusing()
  await app.register(healthRoutes, { readiness, isRefusing, prefix })
  if (apiDocs !== undefined) {
    await app.register(openApiRoutes, {
      docs: apiDocs.page,
      document: 'openapi.json',
      hasSignIn: page !== undefined,
      credentials: 'none',
      prefix,
    })
  }
  const shares = new LoopShares()
  app.addHook('onResponse', async (request) => shares.note(request))
  const readInTurn = createListingTurns({ shares, atOnce: limits.listings })
  const turns = { shares, readInTurn }
  await app.register((scope) => usersScope(scope, options, turns), { prefix })
  const linking = {
    useCases,
    downloads,
    readInTurn,
    basePath,
    allowedOrigins,
    page: options.linkPage,
  }
  await app.register((scope) => linkRoutes(scope, linking), { prefix })
  if (page === undefined) {
    await app.register(ownSessionRoutes, { accessTokens, allowedOrigins, prefix })
  } else {
    const session = async (scope: FastifyInstance) => {
      await scope.register(ownSessionRoutes, { accessTokens, allowedOrigins })
      await scope.register(sessionRoutes, { accessTokens, basePath })
    }
    await app.register(pageScope, { page, session, allowedOrigins, prefix })
  }
  await app.register(others)
  return app
}

interface Turns {
  readonly shares: LoopShares
  readonly readInTurn: ReadInTurn
}

async function usersScope(
  app: FastifyInstance,
  options: AppOptions,
  { shares, readInTurn }: Turns,
): Promise<void> {
  const { useCases, limits, downloads, redirect, basePath, allowedOrigins } = options
  const { repository, history, archives, uploads, feed, accessTokens, links } = useCases
  const { maxFiles, maxFileSize } = limits
  const serving = { downloads, redirect }
  await app.register(accessTokenPlugin, { accessTokens, allowedOrigins })
  // The route of any user's files serves these.
  const others = otherMethods(app, { '/users/me/repo/:file_name': ['GET', 'HEAD'] })
  await app.register(uploadRoutes, { repository })
  await app.register(downloadRoutes, { serving, repository })
  await app.register(deleteRoutes, { repository })
  await app.register(updateRoutes, { repository })
  await app.register(batchRoutes, { repository, shares })
  await app.register(listRoutes, { repository, feed, readInTurn })
  await app.register(archiveRoutes, { downloads, archives, readInTurn })
  await app.register(historyRoutes, { serving, history, readInTurn })
  await app.register(changesRoutes, { feed, readInTurn })
  await app.register(capacityRoutes, { repository, maxFiles, readInTurn })
  await app.register(resumableRoutes, { uploads, readInTurn, basePath, maxFileSize })
  await app.register(accessTokenRoutes, { accessTokens, readInTurn })
  await app.register(ownLinkRoutes, { links, basePath, readInTurn })
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

/** The router refuses invalid UTF-8 before any route sees it; usually the file name is at fault. */
function nameFault(url = ''): AppError | undefined {
  const [, user = '%'] = /\/users\/([^/]+)\/repo\/[^/?]+(\?|$)/.exec(url) ?? []
  return isDecodable(user)
    ? new AppError('invalid_file_name', 'The file name is not valid percent-encoded UTF-8.')
    : undefined
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment)
    return true
  } catch {
    return false
  }
}
