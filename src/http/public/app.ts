import type { FastifyInstance } from 'fastify'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { AppError } from '../../core/errors.ts'
import type { Ledger } from '../../core/ledger/ledger.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { Repository } from '../../core/files/repository.ts'
import { createListener, type ListenerOptions } from '../server/listener.ts'
import { accessTokenPlugin } from './access-token.ts'
import { describeRoutes } from '../openapi/document.ts'
import type { Json } from '../openapi/operation.ts'
import { ALWAYS } from '../openapi/problem-responses.ts'
import { type DownloadLimits, DownloadSlots } from '../download/download-slots.ts'
import { multipartUploadPlugin } from '../multipart/plugin.ts'
import { preflightPlugin } from '../server/plugins/preflight.ts'
import { sameSitePlugin } from '../server/plugins/same-site.ts'
import { PUBLIC_API } from './api.ts'
import { updateRoutes } from './routes/update.ts'
import { capacityRoutes } from './routes/capacity.ts'
import { downloadRoutes } from './routes/download.ts'
import { methodNotAllowedRoutes } from '../shared-routes/method-not-allowed.ts'
import { healthRoutes } from '../shared-routes/health.ts'
import { listRoutes } from './routes/list.ts'
import { openApiRoutes } from '../shared-routes/openapi.ts'
import { pageRoutes } from '../shared-routes/page.ts'
import { deleteRoutes } from './routes/delete.ts'
import { nestedNameRoutes } from './routes/nested-name.ts'
import { sessionRoutes } from './routes/session.ts'
import { uploadRoutes } from './routes/upload.ts'
import type { PageFile, WebPage } from '../pages/static-assets.ts'

export interface AppOptions extends Pick<
  ListenerOptions,
  | 'logger'
  | 'trustedProxies'
  | 'isStopping'
  | 'gate'
  | 'meter'
  | 'traces'
  | 'lingerMs'
  | 'headTimeoutMs'
> {
  readonly repository: Repository
  readonly ledger: Ledger
  readonly accessTokens: AccessTokens
  readonly readiness: Readiness
  readonly downloadLimits: DownloadLimits
  /** Files that a user may have. */
  readonly maxFiles: number
  /** Prefix of every path, such as `/api`; empty for none. */
  readonly basePath: string
  /** Other origins whose pages may use the API with the user's cookie. */
  readonly allowedOrigins: readonly string[]
  /** Whether `/openapi.json` and `/docs` are there. */
  readonly apiDocs: boolean
  /** The page at `/docs`; without it nothing is there. */
  readonly docs?: PageFile | undefined
  /** The user's page, which brings the session along; without it neither is there. */
  readonly page?: WebPage | undefined
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  /** Aborts what is still running when the grace period of a shutdown is over. */
  readonly shutdown: AbortSignal
}

/** Builds the public listener. What is registered here, in this order, is the map of the API. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = await createListener({ ...options, pathFault: nameFault })
  const prefix = options.basePath
  await app.register(preflightPlugin, options)
  const document = describeRoutes(app, { ...PUBLIC_API, basePath: prefix })
  const downloads = new DownloadSlots(options.downloadLimits)
  const isRefusing = () => downloads.isRefusing()
  await app.register(healthRoutes, { ...options, isRefusing, prefix })
  await app.register(methodNotAllowedRoutes, {
    prefix,
    allowed: { '/livez': ['GET', 'HEAD'], '/readyz': ['GET', 'HEAD'] },
  })
  if (options.apiDocs)
    await app.register((scope) => docsScope(scope, { ...options, document }), { prefix })
  await app.register((scope) => usersScope(scope, { ...options, downloads }), { prefix })
  const { page } = options
  if (page !== undefined) {
    await app.register((scope) => pageScope(scope, { ...options, page }), { prefix })
  }
  return app
}

/** What this listener says of itself. */
async function docsScope(
  app: FastifyInstance,
  { document, docs }: Pick<AppOptions, 'docs'> & { readonly document: () => Json },
): Promise<void> {
  const access = { credentials: 'none', problems: ALWAYS } as const
  await app.register(openApiRoutes, { document, docs, access })
  await app.register(methodNotAllowedRoutes, {
    allowed: { '/openapi.json': ['GET', 'HEAD'], '/docs': ['GET', 'HEAD'] },
  })
}

/** What a person's browser is served: the page, and the session by which it works under the user's name. */
async function pageScope(
  app: FastifyInstance,
  options: AppOptions & { readonly page: WebPage },
): Promise<void> {
  await app.register(pageRoutes, options)
  await app.register(async (scope) => {
    await scope.register(sameSitePlugin, options)
    await scope.register(sessionRoutes, options)
  })
  await app.register(methodNotAllowedRoutes, {
    allowed: {
      '/': ['GET', 'HEAD'],
      '/assets/:name': ['GET', 'HEAD'],
      '/session': ['POST', 'DELETE'],
    },
  })
}

/** Everything under `/users`: whoever writes here is no other site's page, and whoever has a token is known. */
async function usersScope(
  app: FastifyInstance,
  options: AppOptions & { readonly downloads: DownloadSlots },
): Promise<void> {
  await app.register(sameSitePlugin, options)
  await app.register(accessTokenPlugin, options)
  await app.register(multipartUploadPlugin)
  await app.register(uploadRoutes, options)
  await app.register(downloadRoutes, options)
  await app.register(deleteRoutes, options)
  await app.register(updateRoutes, options)
  await app.register(listRoutes, options)
  await app.register(capacityRoutes, options)
  await app.register(nestedNameRoutes)
  await app.register(methodNotAllowedRoutes, {
    allowed: {
      '/users/me/repo/:file_name': ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      '/users/:user_id/repo/:file_name': ['GET', 'HEAD'],
      '/users/:user_id/repo': ['GET', 'HEAD'],
      '/users/me/capacity': ['GET', 'HEAD'],
    },
  })
}

/** The router refuses a path that is not valid UTF-8 before any route sees it; mostly that is a file's name. */
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
