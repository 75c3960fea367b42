import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { assertOwnPage } from '../../server/csrf.ts'
import type { OperatorAuth } from '../operator-auth.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    needsNoToken?: boolean
  }
}

export interface BearerOptions {
  readonly operatorAuth: OperatorAuth
}

/**
 * Authenticates before the body is read. A session also requires a request of the service's own page, else
 * `cross_site_request`.
 */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { operatorAuth }) => {
    app.addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return
      const [, bearer] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (bearer !== undefined) return operatorAuth.assertToken(bearer, { request, reply })
      operatorAuth.assertSession({ request, reply })
      // Reads too: they are recorded as what the operator has done.
      assertOwnPage(request, reply)
    })
  },
  {
    name: 'bearer',
    fastify: '5.x',
    dependencies: ['@fastify/cookie'],
    decorators: { fastify: ['parseCookie'], request: ['problem'] },
  },
)

function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  if (config.needsNoToken === true) return true
  const operations = [config.operation ?? []].flat()
  return operations.length > 0 && operations.every(({ credentials }) => credentials === 'none')
}

const BEARER = /^Bearer +([!-~]+)$/i
