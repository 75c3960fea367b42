import fastifyCookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import type { AuthorizedCaller } from '../../core/users/caller.ts'
import { AppError } from '../../core/errors.ts'
import { shownValues } from '../pages/session-cookie.ts'
import { addressOf } from '../server/request-head.ts'
import { addVary } from '../headers/content-headers.ts'
import { assertSameSite } from '../server/csrf.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` without a token, `undefined` on routes that ignore tokens. */
    user: AuthorizedCaller | null | undefined
  }
}

export interface AccessTokenOptions {
  readonly accessTokens: AccessTokens
  /** Origins, such as `https://app.example.com`, whose pages may write with the user's cookie. */
  readonly allowedOrigins: readonly string[]
}

/** `__Host-access_token` is accepted too. */
export const ACCESS_TOKEN_COOKIE = 'access_token'

/**
 * Cookie authentication, before the body is read. Refuses cross-site writes (`cross_site_request`), wrong tokens (403)
 * and addresses with too many of them (429); without a cookie the request is anonymous. Two different tokens are
 * refused unread: a page on another port or subdomain can plant one that browsers send first.
 */
export const accessTokenPlugin = fp<AccessTokenOptions>(
  async (app, { accessTokens, allowedOrigins }) => {
    const allowed = new Set(allowedOrigins)
    await app.register(fastifyCookie, { hook: false })
    app.decorateRequest('user', null)
    app.addHook('onRequest', async (request, reply) => {
      assertSameSite(request, reply, allowed)
      addVary(reply, 'Cookie')
      const shown = shownValues(request, ACCESS_TOKEN_COOKIE)
      const [secret] = shown
      if (secret === undefined) return
      if (shown.length > 1) throw tokensDiffer(shown.length)
      request.user = await accessTokens.authenticate(secret, addressOf(request))
    })
  },
  {
    name: 'access-token',
    fastify: '5.x',
    dependencies: [],
    decorators: { request: ['problem'] },
  },
)

/** Throws `access_token_missing` without a user. Only for routes under `accessTokenPlugin`. */
export function requireUser(request: FastifyRequest): AuthorizedCaller {
  const user = request.getDecorator<AuthorizedCaller | null>('user')
  if (user !== null) return user
  throw new AppError('access_token_missing', 'This request needs the cookie "access_token".')
}

function tokensDiffer(count: number): AppError {
  return new AppError(
    'access_token_invalid',
    'The cookies contain different access tokens; another page may have set one of them. Sign out or delete the ' +
      'cookies of this site, then sign in again.',
    { facts: { access_tokens: count } },
  )
}
