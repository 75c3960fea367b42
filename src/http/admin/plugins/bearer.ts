import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'
import { clientAddressOf } from '../../server/request-head.ts'
import { assertSameSite } from '../../server/cors.ts'
import { shownValues } from '../../pages/session-cookie.ts'
import { ADMIN_SESSION_COOKIE, type AdminSessions } from '../admin-session.ts'
import type { AdminToken } from '../admin-token.ts'
import { audit } from '../audit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether whoever asks is let in: what the route does is no secret, and the token is not known yet. */
    needsNoToken?: boolean
  }
}

export interface BearerOptions {
  readonly adminToken: AdminToken
  /** Those that a browser may show as a cookie in place of the token; without them no cookie is looked at. */
  readonly sessions: AdminSessions | undefined
}

/**
 * Refuses every request that shows neither the token nor a session, but to a route that says that it needs none (a probe,
 * whose orchestrator has none; the page, by which one signs in), before its body is read: with `unauthorized`, or with
 * `too_many_requests` where its address has shown too many wrong ones. The right one is let in from everywhere. With a
 * session, whose cookie a browser sends for whichever page has it do so, another site's page is refused with
 * `cross_site_request`.
 */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { adminToken, sessions }) => {
    app.addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return
      const [, bearer] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (bearer !== undefined) return assertRight(adminToken, { shown: bearer, request, reply })
      if (sessions === undefined) throw unauthorized(reply)
      assertSession({ adminToken, sessions }, { request, reply })
      assertSameSite(request, reply)
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

interface ShownToken {
  readonly shown: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Refuses a token that is not the right one, as `bearerPlugin` does, with a line of the audit log for each that counts as
 * a guess: so many that an address is blocked, and no more.
 */
export function assertRight(adminToken: AdminToken, { shown, request, reply }: ShownToken): void {
  if (adminToken.isRight(shown, clientAddressOf(request))) return
  audit(request, { action: 'admin_token.refuse' })
  throw unauthorized(reply)
}

interface SessionCheck {
  readonly adminToken: AdminToken
  readonly sessions: AdminSessions
}

/**
 * Refuses a request of whose sessions none is good. More than one is shown where a page of another port has planted one,
 * and none that it can plant is good. A forged one is a guess; one that has expired is none, since its browser shows it
 * by itself.
 */
function assertSession(
  { adminToken, sessions }: SessionCheck,
  { request, reply }: Omit<ShownToken, 'shown'>,
): void {
  const shown = shownValues(request, ADMIN_SESSION_COOKIE)
  const verdicts = new Set(shown.map((value) => sessions.judge(value)))
  if (verdicts.has('good')) return
  if (verdicts.has('forged')) {
    adminToken.noteFailedAttempt(clientAddressOf(request))
    audit(request, { action: 'admin_token.refuse' })
  }
  throw unauthorized(reply)
}

/** The refusal of whoever does not show the right token. */
function unauthorized(reply: FastifyReply): AppError {
  void reply.header('www-authenticate', 'Bearer')
  return new AppError('unauthorized', 'This request needs the bearer token of the admin API.')
}
