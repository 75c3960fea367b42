import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import type { Grants } from '../../core/quota/grants.ts'
import type { FailedAttemptLimiter } from '../../core/auth/failed-attempt-limiter.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { Users } from '../../core/users/users.ts'
import { createListener, type ListenerOptions } from '../server/listener.ts'
import { describeRoutes } from '../openapi/document.ts'
import { methodNotAllowedRoutes } from '../shared-routes/method-not-allowed.ts'
import { sameSitePlugin } from '../server/plugins/same-site.ts'
import { healthRoutes } from '../shared-routes/health.ts'
import { openApiRoutes } from '../shared-routes/openapi.ts'
import { pageRoutes } from '../shared-routes/page.ts'
import type { PageFile, WebPage } from '../pages/static-assets.ts'
import { ADMIN_API, ANY_CALL } from './api.ts'
import { type AdminSessions, createAdminSessions } from './admin-session.ts'
import { type AdminToken, createAdminToken } from './admin-token.ts'
import { bearerPlugin } from './plugins/bearer.ts'
import { strictBodyPlugin } from './plugins/strict-body.ts'
import { accessTokenRoutes } from './routes/access-tokens.ts'
import { deviceRoutes } from './routes/devices.ts'
import { grantRoutes } from './routes/grants.ts'
import { type ExposedMetrics, metricsRoutes } from './routes/metrics.ts'
import { sessionRoutes } from './routes/session.ts'
import { userRoutes } from './routes/users.ts'

export interface AdminOptions extends Pick<
  ListenerOptions,
  'logger' | 'trustedProxies' | 'isStopping' | 'gate' | 'meter' | 'traces' | 'shutdown'
> {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly metrics: ExposedMetrics
  readonly readiness: Readiness
  readonly failedAttempts: FailedAttemptLimiter
  /** What a request has to show in `Authorization: Bearer`. */
  readonly token: string
  /** The operator's page, which brings the session along; without it neither is there. */
  readonly page?: WebPage | undefined
  /** The page at `/docs`; without it nothing is there. */
  readonly docs?: PageFile | undefined
}

/**
 * Builds the admin listener. Every request but a probe's, and those by which a browser gets the page and signs in, shows
 * the token before anything else of it is looked at.
 */
export async function buildAdmin(options: AdminOptions): Promise<FastifyInstance> {
  const app = await createListener({ ...options, server: SERVER })
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
  })
  const document = describeRoutes(app, ADMIN_API)
  const adminToken = createAdminToken(options)
  const { page, docs } = options
  const sessions = page && createAdminSessions(options)
  await app.register(fastifyCookie, { hook: false })
  await app.register(bearerPlugin, { adminToken, sessions })
  await app.register(strictBodyPlugin)
  await app.register(healthRoutes, options)
  const access = { credentials: 'required', problems: ANY_CALL } as const
  await app.register(openApiRoutes, { document, docs, access })
  await app.register(userRoutes, options)
  await app.register(accessTokenRoutes, options)
  await app.register(deviceRoutes, options)
  await app.register(grantRoutes, options)
  await app.register(metricsRoutes, options)
  await app.register(methodNotAllowedRoutes, {
    allowed: {
      '/livez': ['GET', 'HEAD'],
      '/readyz': ['GET', 'HEAD'],
      '/metrics': ['GET'],
      '/openapi.json': ['GET', 'HEAD'],
      '/docs': ['GET', 'HEAD'],
      '/admin/users': ['GET', 'POST'],
      '/admin/users/:user_id': ['GET', 'PUT', 'PATCH', 'DELETE'],
      '/admin/users/:user_id/access-tokens': ['GET', 'POST'],
      '/admin/users/:user_id/access-tokens/:token_id': ['DELETE'],
      '/admin/users/:user_id/devices': ['GET'],
      '/admin/users/:user_id/devices/:device_id': ['PUT', 'DELETE'],
      '/admin/users/:user_id/grants': ['GET'],
      '/admin/users/:user_id/grants/:source/:reference': ['PUT', 'DELETE'],
    },
  })
  if (page !== undefined && sessions !== undefined) {
    await app.register((scope) => pageScope(scope, { page, adminToken, sessions }))
  }
  return app
}

/** What a browser is served before it has signed in. */
async function pageScope(
  app: FastifyInstance,
  options: {
    readonly page: WebPage
    readonly adminToken: AdminToken
    readonly sessions: AdminSessions
  },
): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsNoToken: true }
  })
  await app.register(pageRoutes, options)
  await app.register(async (scope) => {
    await scope.register(sameSitePlugin, { allowedOrigins: [] })
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

const SERVER = {
  bodyLimit: 16 * 1024,
  // Bodies are small here, so one that does not come has no right to more.
  requestTimeout: 20_000,
} as const
