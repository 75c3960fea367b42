import fastifyCookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import { type Action, permits } from '../../core/auth/scope.ts'
import { assertMay, type UserSubject, viewerFor } from '../../core/auth/subject.ts'
import { AppError, isAppError } from '../../core/errors.ts'
import { ACCOUNT_FIGURES } from '../../core/quota/refusal.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { shownValues } from '../pages/session-cookie.ts'
import { addressOf } from '../server/forwarded.ts'
import { addVary } from '../headers/content-headers.ts'
import { assertSameSite } from '../server/csrf.ts'
import { subjectOf } from '../server/request-subject.ts'

export interface AccessTokenOptions {
  readonly accessTokens: AccessTokens
  /** Origins, such as `https://app.example.com`, whose pages may write with the user's cookie. */
  readonly allowedOrigins: readonly string[]
}

/** `__Host-access_token` is accepted too. */
export const ACCESS_TOKEN_COOKIE = 'access_token'

/**
 * Authentication by `Authorization: Bearer` or the cookie, before the body is read; without either the request is
 * anonymous. Refuses wrong tokens (403), addresses with too many of them (429), and writes by cookie from pages of other
 * sites (`cross_site_request`): browsers send no bearer token by themselves. Two different tokens are refused unread: a
 * page on another port or subdomain can plant a cookie that browsers send first.
 */
export const accessTokenPlugin = fp<AccessTokenOptions>(
  async (app, { accessTokens, allowedOrigins }) => {
    const allowed = new Set(allowedOrigins)
    await app.register(fastifyCookie, { hook: false })
    app.decorateRequest('subject', null)
    app.addHook('onRequest', async (request, reply) => {
      const bearer = bearerOf(request)
      if (bearer === undefined) assertSameSite(reply, allowed)
      addVary(reply, 'Cookie', 'Authorization')
      const ofCookies = shownValues(request, ACCESS_TOKEN_COOKIE)
      const isOther = bearer !== undefined && !ofCookies.includes(bearer)
      const shown = isOther ? [bearer, ...ofCookies] : ofCookies
      const [secret] = shown
      if (secret === undefined) return
      if (shown.length > 1) throw tokensDiffer(shown.length)
      const user = await accessTokens.authenticate(secret, addressOf(request))
      request.subject = user
      if (!permits(user, 'read')) request.hiddenFacts = ACCOUNT_FIGURES
    })
  },
  {
    name: 'access-token',
    fastify: '5.x',
    dependencies: [],
    decorators: { request: ['problem'] },
  },
)

/** The user of the token. Throws as `subjectOf` does. Only for routes under `accessTokenPlugin`. */
export function requireUser(
  request: FastifyRequest,
  anyOf: readonly [Action, ...Action[]],
): UserSubject {
  const subject = subjectOf(request, anyOf)
  if (subject.kind !== 'user') throw new TypeError('The route has a hook of another subject')
  return subject
}

/**
 * The error, or `scope_insufficient` if the subject's token permits none of the actions: for routes that read the body
 * first, which says what is asked.
 */
export function scopeFirst(
  error: unknown,
  { subject }: FastifyRequest,
  anyOf: readonly [Action, ...Action[]],
): unknown {
  const isKnown = subject !== null && subject !== undefined
  if (!isKnown || isAppError(error, 'scope_insufficient')) return error
  try {
    assertMay(subject, anyOf)
    return error
  } catch (refusal) {
    return refusal
  }
}

/** Who reads the owner's files; `undefined` without a token, and as `viewerFor` says. */
export function viewerOf({ subject }: FastifyRequest, owner: UserId): UserSubject | undefined {
  return subject?.kind === 'user' ? viewerFor(subject, owner) : undefined
}

/** The token of the header. Other schemes, which may be for a proxy, are ignored. */
function bearerOf({ headers }: FastifyRequest): string | undefined {
  const found = BEARER.exec(headers.authorization ?? '')
  return found === null ? undefined : (found[1] ?? '')
}

const BEARER = /^Bearer(?: +(\S.*))?$/i

function tokensDiffer(count: number): AppError {
  return new AppError(
    'access_token_invalid',
    'The request has different access tokens; another page may have set a cookie. Sign out or delete the cookies of ' +
      'this site, then sign in again.',
    { facts: { access_tokens: count } },
  )
}
