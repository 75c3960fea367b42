import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import type { FailedAttemptLimiter } from '../../core/auth/failed-attempt-limiter.ts'
import type { Archives } from '../../core/files/archive.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { Downloads } from '../download/downloads.ts'
import { createListener, type ListenerContext } from '../server/listener.ts'
import type { RequestMeter } from '../server/request-outcome.ts'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { healthRoutes } from '../routes/health.ts'
import { nameFault } from '../routes/name-fault.ts'
import { openApiRoutes } from '../routes/openapi.ts'
import { pageScope } from '../routes/page.ts'
import type { PageFile, WebPage } from '../pages/static-assets.ts'
import { createAdminSessions } from './admin-session.ts'
import { createAudit } from './audit.ts'
import { bearerPlugin, createOperatorAuth } from './operator-auth.ts'
import type { OperatorUseCases } from './operator-plugin.ts'
import { addOperatorRoutes, takeOperatorRequests } from './operator-routes.ts'
import { archiveRoutes } from './routes/archive.ts'
import { type ExposedMetrics, metricsRoutes } from './routes/metrics.ts'
import { ownSessionRoutes, sessionRoutes } from './routes/session.ts'

export interface AdminOptions {
  readonly meter: RequestMeter
  readonly useCases: UseCases
  readonly metrics: ExposedMetrics
  readonly readiness: Readiness
  readonly downloads: Downloads
  readonly token: string
  /** If unset, neither the page nor its sign-in exists. */
  readonly page: WebPage | undefined
  readonly docs: PageFile | undefined
}

interface UseCases extends OperatorUseCases {
  readonly archives: Archives
  readonly failedAttempts: FailedAttemptLimiter
}

/** The path of a file up to its name. */
const FILE_PATH = /\/admin\/users\/([^/?]+)\/files\/[^?]/

/** Builds the admin listener. Only probes, the page and its sign-in are served without authentication. */
export async function buildAdmin(
  context: ListenerContext,
  options: AdminOptions,
): Promise<FastifyInstance> {
  const { meter, useCases, metrics, readiness, downloads, token, page, docs } = options
  const { archives, failedAttempts, auditTrail, operators, users } = useCases
  const app = await createListener(context, {
    meter,
    pathFault: (url) => nameFault(FILE_PATH, url),
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  })
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
  })
  const others = otherMethods(app)
  const sessions = page && createAdminSessions(token)
  const audit = createAudit(auditTrail)
  const operatorAuth = createOperatorAuth({ token, operators, failedAttempts, sessions })
  await app.register(fastifyCookie, { hook: false })
  await app.register(bearerPlugin, { operatorAuth })
  takeOperatorRequests(app)
  await app.register(healthRoutes, { readiness })
  await app.register(openApiRoutes, {
    docs,
    document: 'admin-openapi.json',
    base: '',
    hasSignIn: page !== undefined,
    credentials: 'required',
  })
  await addOperatorRoutes(app, { useCases, audit })
  await app.register(archiveRoutes, { downloads, archives, users, audit })
  await app.register(metricsRoutes, { metrics })
  if (page === undefined || sessions === undefined) await app.register(ownSessionRoutes)
  else {
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        if (route.config?.operation === undefined) {
          route.config = { ...route.config, needsNoToken: true }
        }
      })
      const session = async (inner: FastifyInstance) => {
        await inner.register(ownSessionRoutes)
        await inner.register(sessionRoutes, { operatorAuth, sessions, audit })
      }
      await scope.register(pageScope, { page, session })
    })
  }
  await app.register(others)
  return app
}

// Bodies are small, so a slow one gets no extra time.
const REQUEST_TIMEOUT_MS = 20_000
