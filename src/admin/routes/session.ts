import type { FastifyContextConfig } from 'fastify'
import { jsonRequestBody } from '../../http/openapi/json-request-body.ts'
import { ALWAYS } from '../../http/openapi/problem-responses.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../http/openapi/type.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { ANY_WRITE } from '../admin-api.ts'
import { ADMIN_TOKEN_COOKIE, type AdminToken } from '../admin-token.ts'
import { audit } from '../audit.ts'
import { NoQuery } from '../page.ts'
import { assertRight } from '../plugins/bearer.ts'

export interface SessionOptions {
  readonly adminToken: AdminToken
}

const Body = Type.Object({ admin_token: Type.String() }, { additionalProperties: false })

/** A day's work. Who goes on the next day signs in again. */
const SESSION_SECONDS = 12 * 3600

/**
 * `POST /session`: hands the admin token to the browser to keep, as a cookie that no script can read and that no other
 * site's page can make it send. `DELETE /session`: has it forgotten.
 */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionOptions> = async (
  app,
  { adminToken },
) => {
  const url = '/session'
  const open = { body: Body, querystring: NoQuery }
  app.post(url, { schema: open, config: OPEN }, async (request, reply) => {
    const shown = request.body.admin_token
    assertRight(adminToken, { shown, request, reply })
    audit(request, { action: 'session.open' })
    const cookie = { ...sessionCookie(request, '/'), maxAge: SESSION_SECONDS }
    return reply.setCookie(ADMIN_TOKEN_COOKIE, shown, cookie).code(204).send()
  })

  app.delete(url, { schema: { querystring: NoQuery }, config: CLOSE }, async (request, reply) => {
    // Anyone may ask for it: without the right cookie nothing ends, and nobody can fill the log.
    const kept = request.cookies[ADMIN_TOKEN_COOKIE]
    if (kept !== undefined && adminToken.isSame(kept)) audit(request, { action: 'session.close' })
    return reply.clearCookie(ADMIN_TOKEN_COOKIE, sessionCookie(request, '/')).code(204).send()
  })
}

const common = { tag: 'session', credentials: 'none' } as const

const OPEN = {
  operation: {
    ...common,
    operationId: 'openSession',
    summary: 'Have a browser keep the admin token',
    description:
      'For the page of this listener. For 12 hours the cookie does what the bearer token does where none is shown, but ' +
      'for no page of another site. Over HTTPS it is sent by HTTPS alone.',
    requestBody: jsonRequestBody({
      required: true,
      schema: {
        title: 'Session',
        type: 'object',
        additionalProperties: false,
        required: ['admin_token'],
        properties: { admin_token: { type: 'string' } },
      },
      example: { admin_token: 'the ADMIN_TOKEN of the deployment' },
    }),
    responses: {
      204: { description: 'The browser has it as the cookie.', headers: ['Set-Cookie'] },
    },
    problems: ANY_WRITE,
  },
} as const satisfies FastifyContextConfig

const CLOSE = {
  operation: {
    ...common,
    operationId: 'closeSession',
    summary: 'Have the browser forget the admin token',
    responses: { 204: { description: 'It is forgotten.', headers: ['Set-Cookie'] } },
    problems: [...ALWAYS, 'cross_site_request'],
  },
} as const satisfies FastifyContextConfig
