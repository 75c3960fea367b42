import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type FailedAttemptLimiter,
  tooManyFailedAttempts,
} from '../../core/auth/failed-attempt-limiter.ts'
import { AppError } from '../../core/errors.ts'
import { shownValues, clientAddressOf } from '../server/request-head.ts'
import { ADMIN_SESSION_COOKIE, type AdminSessions } from './admin-session.ts'
import { audit } from './audit.ts'

export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Tells the operator from everyone else: by the token of the deployment, or by a session that a browser was given for it.
 * Anyone else is refused with `unauthorized`. A wrong token and a forged session are guesses: each is a line of the audit
 * log, and where their address has shown too many they are refused with `too_many_requests` and not logged any more. The
 * right token is let in from everywhere.
 */
export interface OperatorAuth {
  /** Refuses a token that is not the right one, in a time that does not tell how much of it is right. */
  assertToken(shown: string, exchange: Exchange): void

  /**
   * Refuses a request of whose sessions none is good. More than one is shown where a page of another port has planted one,
   * and none that it can plant is good. One that has expired is no guess, since its browser shows it by itself.
   */
  assertSession(exchange: Exchange): void
}

export interface OperatorAuthOptions {
  readonly token: string
  readonly failedAttempts: FailedAttemptLimiter
  /** Those that a browser may show as a cookie in place of the token; without them no cookie is looked at. */
  readonly sessions: AdminSessions | undefined
}

export function createOperatorAuth(options: OperatorAuthOptions): OperatorAuth {
  const { token, failedAttempts, sessions } = options
  const expected = digestOf(token)

  function refuse({ request, reply }: Exchange, isGuess: boolean): never {
    if (isGuess) {
      const address = clientAddressOf(request)
      const blockedMs = failedAttempts.blockedMs(address)
      if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
      failedAttempts.note(address)
      audit(request, { action: 'admin_token.refuse' })
    }
    void reply.header('www-authenticate', 'Bearer')
    throw new AppError('unauthorized', 'This request needs the bearer token of the admin API.')
  }

  return {
    assertToken(shown, exchange) {
      if (!timingSafeEqual(digestOf(shown), expected)) refuse(exchange, true)
    },

    assertSession(exchange) {
      const shown =
        sessions === undefined ? [] : shownValues(exchange.request, ADMIN_SESSION_COOKIE)
      const verdicts = new Set(shown.map((value) => sessions?.judge(value)))
      if (!verdicts.has('good')) refuse(exchange, verdicts.has('forged'))
    },
  }
}

// Digests are of one length, so that comparing them takes one time whatever was shown.
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
