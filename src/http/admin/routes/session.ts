import { describing } from '../../openapi/operation.ts'
import { type FastifyPluginAsyncTypebox, Type } from '../../openapi/type.ts'
import { forgetSession, keepSession, shownValues } from '../../pages/session-cookie.ts'
import {
  ADMIN_SESSION_COOKIE,
  ADMIN_SESSION_SECONDS,
  type AdminSessions,
} from '../admin-session.ts'
import type { Audit } from '../audit.ts'
import type { OperatorAuth } from '../operator-auth.ts'
import { NO_QUERY } from '../route-schemas.ts'

export interface SessionOptions {
  readonly operatorAuth: OperatorAuth
  readonly sessions: AdminSessions
  readonly audit: Audit
}

/** `POST /session` exchanges the admin token for a cookie that scripts can't read and other sites can't send. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionOptions> = async (
  app,
  { operatorAuth, sessions, audit },
) => {
  const url = '/session'
  const cookies = { name: ADMIN_SESSION_COOKIE, basePath: '', pathsBelow: [] }
  app.post(url, OPEN, async (request, reply) => {
    operatorAuth.assertToken(request.body.admin_token, reply)
    await audit(request, { action: 'session.open' })
    keepSession(reply, { cookies, value: sessions.open(), maxAge: ADMIN_SESSION_SECONDS })
    return reply.code(204).send()
  })

  app.delete(url, CLOSE, async (request, reply) => {
    // Anyone may call this: only good sessions are audited, so that strangers can't fill the log.
    const shown = shownValues(request, ADMIN_SESSION_COOKIE)
    const isOpen = shown.some((value) => sessions.judge(value) === 'good')
    if (isOpen) await audit(request, { action: 'session.close' })
    forgetSession(reply, cookies)
    return reply.code(204).send()
  })
}

const ofSession = describing({ tag: 'session', credentials: 'none', querystring: NO_QUERY })

const Session = Type.Object(
  { admin_token: Type.String() },
  {
    title: 'Session',
    additionalProperties: false,
    examples: [{ admin_token: 'the ADMIN_TOKEN of the deployment' }],
  },
)

const OPEN = ofSession({
  operationId: 'openSession',
  summary: 'Open a browser session with the admin token',
  description:
    'The web page of this listener uses this request. For 12 hours the cookie replaces the bearer token, except for ' +
    'requests from other sites. The cookie contains a signed expiry time, not the token. Changing ' +
    '`ADMIN_TOKEN` ends the session. If the cookie was set over HTTPS, browsers send it only over HTTPS.',
  body: Session,
  responses: { 204: { description: 'The cookie is set.', headers: ['Set-Cookie'] } },
  problems: ['unauthorized'],
})

const CLOSE = ofSession({
  operationId: 'closeSession',
  summary: 'Remove the session from the browser',
  responses: { 204: { description: 'The cookie is removed.', headers: ['Set-Cookie'] } },
})
