import type { FastifyInstance } from 'fastify'
import type { AuditTrail } from '../../core/audit/audit-trail.ts'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import type { Repository } from '../../core/files/repository.ts'
import type { History } from '../../core/history/history.ts'
import type { Links } from '../../core/links/links.ts'
import type { OverviewReader } from '../../core/overview/overview.ts'
import type { Grants } from '../../core/quota/grants.ts'
import type { ResumableUploads } from '../../core/resumable/resumable-uploads.ts'
import type { Users } from '../../core/users/users.ts'
import type { ParkedWebhooks } from '../../core/webhooks/parked-webhooks.ts'
import { acceptJson } from '../body/json-body.ts'
import type { FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import type { Audit } from './audit.ts'
import { accessTokenRoutes } from './routes/access-tokens.ts'
import { auditRoutes } from './routes/audit.ts'
import { deviceRoutes } from './routes/devices.ts'
import { fileRoutes } from './routes/files.ts'
import { grantRoutes } from './routes/grants.ts'
import { historyRoutes } from './routes/history.ts'
import { linkRoutes } from './routes/links.ts'
import { overviewRoutes } from './routes/overview.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { userRoutes } from './routes/users.ts'
import { webhookRoutes } from './routes/webhooks.ts'

export interface OperatorRoutesOptions {
  readonly useCases: OperatorUseCases
  readonly audit: Audit
}

/** What operators do, by the admin API and by the command line. */
export interface OperatorUseCases {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly repository: Pick<Repository, 'list' | 'remove'>
  readonly history: Pick<History, 'list' | 'restore'>
  readonly uploads: Pick<ResumableUploads, 'list' | 'cancel'>
  readonly links: Pick<Links, 'list' | 'revoke'>
  readonly parkedWebhooks: ParkedWebhooks
  readonly overview: OverviewReader
  readonly auditTrail: AuditTrail
}

/** Makes the routes that `app` gets from now on take JSON bodies, and an operator as their subject (`operatorHook`). */
export function takeOperatorRequests(app: FastifyInstance): void {
  app.decorateRequest('subject', null)
  app.addHook('onRoute', (route) => acceptJson(route, { isOptional: true }))
}

export type OperatorPlugin = FastifyPluginAsyncTypebox<OperatorRoutesOptions>

const PLUGINS = [
  userRoutes,
  accessTokenRoutes,
  deviceRoutes,
  grantRoutes,
  uploadRoutes,
  historyRoutes,
  linkRoutes,
  fileRoutes,
  overviewRoutes,
  auditRoutes,
  webhookRoutes,
]

/**
 * Adds the routes below `/admin`, which authenticate nobody, after `takeOperatorRequests`. Each calls `audit` as soon as
 * it has changed something, or has listed a user's files.
 */
export async function addOperatorRoutes(
  app: FastifyInstance,
  options: OperatorRoutesOptions,
): Promise<void> {
  for (const plugin of PLUGINS) await app.register(plugin, options)
}
