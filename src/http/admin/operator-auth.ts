import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import {
  type FailedAttemptLimiter,
  tooManyFailedAttempts,
} from '../../core/auth/failed-attempt-limiter.ts'
import { AppError } from '../../core/errors.ts'
import { shownValues } from '../pages/session-cookie.ts'
import { assertOwnPage } from '../server/csrf.ts'
import { clientAddressOf } from '../server/forwarded.ts'
import { ADMIN_SESSION_COOKIE, type AdminSessions } from './admin-session.ts'
import { logAudit } from './audit.ts'

/**
 * Authenticates the operator by the admin token or a session, or throws `unauthorized`. A wrong token or forged session
 * is audited and counted; an address with too many gets `too_many_requests` and is no longer logged. The right token
 * always passes.
 */
export type OperatorAuth = ReturnType<typeof createOperatorAuth>

export interface OperatorAuthOptions {
  readonly token: string
  readonly failedAttempts: FailedAttemptLimiter
  readonly sessions: AdminSessions | undefined
}

export function createOperatorAuth(options: OperatorAuthOptions) {
  const { token, failedAttempts, sessions } = options
  const expected = digestOf(token)

  function refuse(reply: FastifyReply, isFailedAttempt: boolean): never {
    const { request } = reply
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
    /** Throws unless the token is right. Compares in constant time. */
    assertToken(shown: string, reply: FastifyReply): void {
      if (!timingSafeEqual(digestOf(shown), expected)) refuse(reply, true)
    },

    /** Passes if any session is good: other ports can plant cookies, but not good ones. An expired one is no guess. */
    assertSession(reply: FastifyReply): void {
      const shown = sessions === undefined ? [] : shownValues(reply.request, ADMIN_SESSION_COOKIE)
      const verdicts = new Set(shown.map((value) => sessions?.judge(value)))
      if (!verdicts.has('good')) refuse(reply, verdicts.has('forged'))
    },
  }
}

export interface BearerOptions {
  readonly operatorAuth: OperatorAuth
}

declare module 'fastify' {
  interface FastifyContextConfig {
    needsNoToken?: boolean
  }
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
      if (bearer !== undefined) return operatorAuth.assertToken(bearer, reply)
      operatorAuth.assertSession(reply)
      // Reads too: they are recorded as what the operator has done.
      assertOwnPage(reply)
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

// `timingSafeEqual` requires equal lengths, which digests have.
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
