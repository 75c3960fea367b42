import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type ClientAddress, parseClientAddress } from '../../core/client-address.ts'
import { AppError } from '../../core/errors.ts'
import { type GuessLimiter, tooManyGuesses } from '../../core/guess-limiter.ts'

export interface BearerOptions {
  readonly token: string
  readonly guesses: GuessLimiter
}

/**
 * Refuses every request that does not show the token, but to a route whose operation says that it needs none (a probe,
 * whose orchestrator has none), before its body is read: with `unauthorized`, or with
 * `too_many_requests` where its address has shown too many wrong ones. The right one is let in from everywhere.
 */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { token, guesses }) => {
    const expected = digestOf(token)
    app.addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return
      const [, shown] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (shown !== undefined && timingSafeEqual(digestOf(shown), expected)) return
      if (shown !== undefined) countGuess(guesses, parseClientAddress(request.ip))
      void reply.header('www-authenticate', 'Bearer')
      throw new AppError('unauthorized', 'This request needs the bearer token of the admin API.')
    })
  },
  { name: 'bearer', fastify: '5.x' },
)

function isOpen({ routeOptions }: FastifyRequest): boolean {
  const operations = [routeOptions.config.operation ?? []].flat()
  return operations.length > 0 && operations.every(({ credentials }) => credentials === 'none')
}

const BEARER = /^Bearer +([!-~]+)$/i

function countGuess(guesses: GuessLimiter, address: ClientAddress): void {
  const blockedMs = guesses.blockedMs(address)
  if (blockedMs > 0) throw tooManyGuesses(blockedMs)
  guesses.note(address)
}

// Digests are of one length, so that comparing them takes one time whatever was shown.
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
