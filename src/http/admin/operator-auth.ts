import { hash, timingSafeEqual } from 'node:crypto'
import {
  type FailedAttemptLimiter,
  tooManyFailedAttempts,
} from '../../core/auth/failed-attempt-limiter.ts'
import { AppError } from '../../core/errors.ts'
import { type Exchange, shownValues } from '../pages/session-cookie.ts'
import { clientAddressOf } from '../server/forwarded.ts'
import { ADMIN_SESSION_COOKIE, type AdminSessions } from './admin-session.ts'
import { logAudit } from './audit.ts'

/**
 * Authenticates the operator by the admin token or a session, or throws `unauthorized`. A wrong token or forged session
 * is audited and counted; an address with too many gets `too_many_requests` and is no longer logged. The right token
 * always passes.
 */
export interface OperatorAuth {
  /** Throws unless the token is right. Compares in constant time. */
  assertToken(shown: string, exchange: Exchange): void

  /** Passes if any session is good: other ports can plant cookies, but not good ones. An expired one is no guess. */
  assertSession(exchange: Exchange): void
}

export interface OperatorAuthOptions {
  readonly token: string
  readonly failedAttempts: FailedAttemptLimiter
  readonly sessions: AdminSessions | undefined
}

export function createOperatorAuth(options: OperatorAuthOptions): OperatorAuth {
  const { token, failedAttempts, sessions } = options
  const expected = digestOf(token)

  function refuse({ request, reply }: Exchange, isFailedAttempt: boolean): never {
    if (isFailedAttempt) {
      const address = clientAddressOf(request)
      const blockedMs = failedAttempts.blockedMs(address)
      if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
      failedAttempts.note(address)
      logAudit(request, { action: 'admin_token.refuse' })
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

// `timingSafeEqual` requires equal lengths, which digests have.
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
