import { createHash, timingSafeEqual } from 'node:crypto'
import fp from 'fastify-plugin'
import { AppError } from '../../core/errors.ts'

export interface BearerOptions {
  readonly token: string
}

/** Refuses with `unauthorized` every request that does not show the token, before its body is read. */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { token }) => {
    const expected = digestOf(token)
    app.addHook('onRequest', async (request, reply) => {
      const [, shown] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (shown !== undefined && timingSafeEqual(digestOf(shown), expected)) return
      void reply.header('www-authenticate', 'Bearer')
      throw new AppError('unauthorized', 'This request needs the bearer token of the admin API.')
    })
  },
  { name: 'bearer', fastify: '5.x' },
)

const BEARER = /^Bearer +([!-~]+)$/i

// Digests are of one length, so that comparing them takes one time whatever was shown.
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
