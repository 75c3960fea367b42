import fastifyCookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { AccessTokens } from '../../core/access-tokens.ts'
import { parseClientAddress } from '../../core/client-address.ts'
import { AppError } from '../../core/errors.ts'
import type { User } from '../../core/user-store.ts'
import { addressOf } from '../request-address.ts'
import { addVary } from '../vary.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose access token the request carries; `null` when it carries none. */
    user: User | null
  }
}

export interface AccessTokenOptions {
  readonly accessTokens: AccessTokens
}

/**
 * Cookie authentication: a request with the cookie `access_token` either belongs to a user or is refused with 403,
 * before anything of its body is read, or with 429 where its address has shown too many wrong ones. Without the cookie
 * it goes on as nobody's. Of two such cookies the first decides.
 */
export const accessTokenPlugin = fp<AccessTokenOptions>(
  async (app, { accessTokens }) => {
    await app.register(fastifyCookie)
    app.decorateRequest('user', null)
    app.addHook('onRequest', async (request, reply) => {
      addVary(reply, 'Cookie')
      const secret = request.cookies['access_token']
      if (secret === undefined) return
      request.user = await accessTokens.verify(secret, parseClientAddress(addressOf(request)))
    })
  },
  { name: 'access-token', fastify: '5.x' },
)

/** The user of the request, or throws `access_token_missing`. */
export function requireUser(request: FastifyRequest): User {
  if (request.user !== null) return request.user
  throw new AppError('access_token_missing', 'This request needs the cookie "access_token".')
}
