import fastifyCookie from '@fastify/cookie'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { ACTIONS } from '../../core/auth/scope.ts'
import { accessTokenInvalid } from '../../core/users/caller.ts'
import { describing } from '../openapi/operation.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import { OwnToken, ownToken } from '../routes/access-token-resource.ts'
import { ACCESS_TOKEN_COOKIE, accessTokenPlugin, requireUser } from './access-token.ts'
import { addressOf } from '../server/forwarded.ts'
import { forgetSession, keepSession } from '../pages/session-cookie.ts'
import { discardBody } from '../body/discard-body.ts'

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
      return ownToken(token, accessTokens.maxLifeMs)
    },
  })
}

export interface SessionOptions {
  readonly accessTokens: AccessTokens
  readonly basePath: string
}

/** Maximum lifetime of the cookie; the token may live longer. */
const MAX_SESSION_SECONDS = 30 * 24 * 3600

/** Scripts can't read the cookie, and other sites can't send it. Both routes expire planted cookies. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionOptions> = async (
  app,
  { accessTokens, basePath },
) => {
  const cookies = { name: ACCESS_TOKEN_COOKIE, basePath, pathsBelow: PATHS_BELOW }
  await app.register(fastifyCookie, { hook: false })

  app.delete('/session', CLOSE, async (_request, reply) => {
    await discardBody(reply)
    forgetSession(reply, cookies)
    return reply.code(204).send()
  })

  app.post('/session', OPEN, async (request, reply) => {
    const secret = request.body.access_token
    const token = await accessTokens.inspect(secret, addressOf(request))
    const maxAge = secondsOf(token.expiresInMs)
    keepSession(reply, { cookies, value: secret, maxAge })
    return reply.code(204).send()
  })
}

const PATHS_BELOW = [
  '/session',
  '/users',
  '/users/me',
  '/users/me/repo',
  '/users/me/access-tokens',
  '/users/me/history',
  '/users/me/links',
  '/users/me/uploads',
]

function secondsOf(expiresInMs = Infinity): number {
  const seconds = Math.min(MAX_SESSION_SECONDS, Math.floor(expiresInMs / 1000))
  if (seconds > 0) return seconds
  throw accessTokenInvalid()
}

const ofSession = describing({ tag: 'session', credentials: 'none' })

const LOOK = describing({ tag: 'session' })({
  operationId: 'getSession',
  summary: 'Get the user, the scope and the expiry of the access token',
  description: 'Needs a valid token, whatever it permits.',
  response: { 200: OwnToken },
  responses: { 200: { description: 'What the token permits.', headers: ['Cache-Control'] } },
})

const Session = Type.Object(
  { access_token: Type.String() },
  { title: 'Session', additionalProperties: false, examples: [{ access_token: 'crt_...' }] },
)

const OPEN = ofSession({
  operationId: 'openSession',
  summary: 'Store an access token in a browser cookie',
  description:
    'For pages on the same origin. The cookie is valid as long as the token, but at most 30 days. If it was ' +
    'set over HTTPS, browsers send it only over HTTPS. The body is JSON in UTF-8 of at most 16 KiB.',
  body: Session,
  responses: { 204: { description: 'The cookie is set.', headers: ['Set-Cookie'] } },
  problems: ['access_token_invalid', 'user_suspended'],
})

const CLOSE = ofSession({
  operationId: 'closeSession',
  summary: 'Remove the access token from the browser',
  description: 'The token itself stays valid until it expires or is revoked.',
  responses: { 204: { description: 'The cookie is removed.', headers: ['Set-Cookie'] } },
})
