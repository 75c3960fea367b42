import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { parseClientAddress } from '../../core/client-address.ts'
import { AppError } from '../../core/errors.ts'
import { addressOf } from '../../http/request-address.ts'
import { assertSameSite } from '../../http/plugins/same-site.ts'
import { ADMIN_TOKEN_COOKIE, type AdminToken } from '../admin-token.ts'
import { audit } from '../audit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether whoever asks is let in: what the route does is no secret, and the token is not known yet. */
    needsNoToken?: boolean
  }
}

export interface BearerOptions {
  readonly adminToken: AdminToken
  /** Whether a browser may show the token as the cookie of its session. */
  readonly takesCookie: boolean
}

/**
 * Refuses every request that does not show the token, but to a route that says that it needs none (a probe,
 * whose orchestrator has none; the page, by which one signs in), before its body is read: with `unauthorized`, or with
 * `too_many_requests` where its address has shown too many wrong ones. The right one is let in from everywhere. Where it
 * is a cookie, which a browser sends for whichever page has it do so, another site's page is refused with
 * `cross_site_request`.
 */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { adminToken, takesCookie }) => {
    app.addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return
      const [, bearer] = BEARER.exec(request.headers.authorization ?? '') ?? []
      const usesCookie = takesCookie && bearer === undefined
      const shown = usesCookie ? request.cookies[ADMIN_TOKEN_COOKIE] : bearer
      if (shown === undefined) throw unauthorized(reply)
      assertRight(adminToken, { shown, request, reply })
      if (usesCookie) assertSameSite(request, reply)
    })
  },
  { name: 'bearer', fastify: '5.x' },
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
  if (adminToken.isRight(shown, parseClientAddress(addressOf(request)))) return
  audit(request, { action: 'admin_token.refuse' })
  throw unauthorized(reply)
}

/** The refusal of whoever does not show the right token. */
function unauthorized(reply: FastifyReply): AppError {
  void reply.header('www-authenticate', 'Bearer')
  return new AppError('unauthorized', 'This request needs the bearer token of the admin API.')
}
