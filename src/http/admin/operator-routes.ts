import type { FastifyInstance } from 'fastify'
import { acceptJson } from '../body/json-body.ts'
import type { OperatorRoutesOptions } from './operator-plugin.ts'
import { accessTokenRoutes } from './routes/access-tokens.ts'
import { auditRoutes } from './routes/audit.ts'
import { deviceRoutes } from './routes/devices.ts'
import { fileRoutes } from './routes/files.ts'
import { grantRoutes } from './routes/grants.ts'
import { historyRoutes } from './routes/history.ts'
import { linkRoutes } from './routes/links.ts'
import { operatorAccountRoutes } from './routes/operators.ts'
import { overviewRoutes } from './routes/overview.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { userListRoutes } from './routes/user-list.ts'
import { userRoutes } from './routes/users.ts'
import { webhookRoutes } from './routes/webhooks.ts'

/** Makes the routes that `app` gets from now on take JSON bodies, and an operator as their subject (`operatorHook`). */
export function takeOperatorRequests(app: FastifyInstance): void {
  app.decorateRequest('subject', null)
  app.addHook('onRoute', (route) => acceptJson(route, { isOptional: true }))
}

const PLUGINS = [
  userRoutes,
  userListRoutes,
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
  operatorAccountRoutes,
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
