import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { ACTIONS } from '../../core/auth/scope.ts'
import { describing } from '../openapi/operation.ts'
import type { FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import { OwnToken, ownToken } from '../shared-routes/access-token-resource.ts'
import { accessTokenPlugin, requireUser } from './access-token.ts'

export interface OwnSessionOptions {
  readonly accessTokens: AccessTokens
  readonly allowedOrigins: readonly string[]
}

/** `GET /session`: whose token the request has, and what it permits. */
export const ownSessionRoutes: FastifyPluginAsyncTypebox<OwnSessionOptions> = async (
  app,
  { accessTokens, allowedOrigins },
) => {
  await app.register(accessTokenPlugin, { accessTokens, allowedOrigins })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/session',
    ...LOOK,
    handler: async (request, reply) => {
      const token = await requireUser(request, ACTIONS).inspect()
      void reply.header('cache-control', 'no-store')
      return ownToken(token)
    },
  })
}

const LOOK = describing({ tag: 'session' })({
  operationId: 'getSession',
  summary: 'Get the user, the scope and the expiry of the access token',
  description: 'Needs a valid token, whatever it permits.',
  response: { 200: OwnToken },
  responses: { 200: { description: 'What the token permits.', headers: ['Cache-Control'] } },
})
