import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import {
  type FailedAttemptLimiter,
  tooManyFailedAttempts,
} from '../../core/auth/failed-attempt-limiter.ts'
import { AppError } from '../../core/errors.ts'
import {
  type ActingOperator,
  assertRole,
  type OperatorRole,
} from '../../core/operators/operator.ts'
import type { Operators } from '../../core/operators/operators.ts'
import { shownValues } from '../pages/session-cookie.ts'
import { assertOwnPage } from '../server/csrf.ts'
import { clientAddressOf } from '../server/forwarded.ts'
import { ADMIN_SESSION_COOKIE, type AdminSessions, type JudgedSession } from './admin-session.ts'
import { logAudit } from './audit.ts'

/**
 * Finds out who sends a request, by the admin token, the token of an operator or a session, or throws `unauthorized`. A
 * wrong token or forged session is audited and counted; an address with too many gets `too_many_requests` and is no
 * longer logged. A right token always passes. Only those of operators need the database.
 */
export type OperatorAuth = ReturnType<typeof createOperatorAuth>

export interface OperatorAuthOptions {
  readonly token: string
  readonly operators: Operators
  readonly failedAttempts: FailedAttemptLimiter
  readonly sessions: AdminSessions | undefined
}

export function createOperatorAuth(options: OperatorAuthOptions) {
  const { token, operators, failedAttempts, sessions } = options
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

  function judgedSessions(request: FastifyRequest): readonly JudgedSession[] {
    if (sessions === undefined) return []
    return shownValues(request, ADMIN_SESSION_COOKIE).map((value) => sessions.judge(value))
  }

  /** Who opened one of the good sessions; `undefined` if they have all been removed. */
  async function findOpener(judged: readonly JudgedSession[]): Promise<ActingOperator | undefined> {
    for (const session of judged) {
      if (session.kind !== 'good') continue
      const { tokenSha256 } = session
      if (tokenSha256 === undefined) return BY_ADMIN_TOKEN
      const operator = await operators.findByDigest(tokenSha256)
      if (operator !== undefined) return operator
    }
    return undefined
  }

  return {
    /** Whose token it is. Compares in constant time. */
    async findByToken(shown: string, reply: FastifyReply): Promise<ActingOperator> {
      if (timingSafeEqual(digestOf(shown), expected)) return BY_ADMIN_TOKEN
      const operator = await operators.findByToken(shown, clientAddressOf(reply.request))
      return operator ?? refuse(reply, true)
    },

    /** Any good session counts: other ports can plant cookies, but not good ones. An expired one is no guess. */
    async findBySession(reply: FastifyReply): Promise<ActingOperator> {
      const judged = judgedSessions(reply.request)
      const kinds = new Set(judged.map(({ kind }) => kind))
      const isFailedAttempt = kinds.has('forged') && !kinds.has('good')
      return (await findOpener(judged)) ?? refuse(reply, isFailedAttempt)
    },

    /** As `findBySession`, but `undefined` without a good session. */
    lookForSession: (request: FastifyRequest) => findOpener(judgedSessions(request)),
  }
}

const BY_ADMIN_TOKEN: ActingOperator = { name: undefined, role: 'admin' }

export interface BearerOptions {
  readonly operatorAuth: OperatorAuth
}

declare module 'fastify' {
  interface FastifyContextConfig {
    needsNoToken?: boolean
    /** See `leastRole`. */
    role?: OperatorRole | undefined
  }

  interface FastifyRequest {
    /** Who is accountable for the request, once known. */
    operator: ActingOperator | null | undefined
  }
}

/**
 * Authenticates and authorizes before the body is read. A session also requires a request of the service's own page,
 * else `cross_site_request`. Throws `operator_forbidden` without the role that the route needs.
 */
export const bearerPlugin = fp<BearerOptions>(
  async (app, { operatorAuth }) => {
    app.decorateRequest('operator', null)
    app.addHook('onRequest', async (request, reply) => {
      if (isOpen(request)) return
      const [, bearer] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (bearer === undefined) {
        request.operator = await operatorAuth.findBySession(reply)
        // Reads too: they are recorded as what the operator has done.
        assertOwnPage(reply)
      } else request.operator = await operatorAuth.findByToken(bearer, reply)
      if (isServed(request))
        assertRole(request.operator, leastRole(request.method, request.routeOptions.config))
    })
  },
  {
    name: 'bearer',
    fastify: '5.x',
    dependencies: ['@fastify/cookie'],
    decorators: { fastify: ['parseCookie'], request: ['problem'] },
  },
)

/** What the route says; else `viewer` for what reads and `admin` for all else, so that no forgotten route is open. */
export function leastRole(
  method: string,
  { role }: { readonly role?: OperatorRole | undefined },
): OperatorRole {
  return role ?? (method === 'GET' || method === 'HEAD' ? 'viewer' : 'admin')
}

function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  if (config.needsNoToken === true) return true
  const operations = [config.operation ?? []].flat()
  return operations.length > 0 && operations.every(({ credentials }) => credentials === 'none')
}

/** Whether the path exists and supports the method; otherwise the refusal says so. */
function isServed({ is404, routeOptions: { config } }: FastifyRequest): boolean {
  return !is404 && config.allowedMethods === undefined
}

const BEARER = /^Bearer +([!-~]+)$/i

// `timingSafeEqual` requires equal lengths, which digests have.
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
