import { sha256 } from '../../../core/auth/sha256.ts'
import { type ActingOperator, OPERATOR_ROLES } from '../../../core/operators/operator.ts'
import { described, describing } from '../../openapi/operation.ts'
import { OneOf, TextOrNull } from '../../openapi/reply-schemas.ts'
import { type FastifyPluginAsyncTypebox, Type } from '../../openapi/type.ts'
import { forgetSession, keepSession } from '../../pages/session-cookie.ts'
import {
  ADMIN_SESSION_COOKIE,
  ADMIN_SESSION_SECONDS,
  type AdminSessions,
} from '../admin-session.ts'
import type { Audit } from '../audit.ts'
import type { OperatorAuth } from '../operator-auth.ts'
import { NO_QUERY } from '../route-schemas.ts'

/** `GET /session`: who sends the request, and what they may do. */
export const ownSessionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/session',
    ...LOOK,
    handler: async (request) => {
      const { name, role } = request.getDecorator<ActingOperator>('operator')
      return { operator: name ?? null, role }
    },
  })
}

export interface SessionOptions {
  readonly operatorAuth: OperatorAuth
  readonly sessions: AdminSessions
  readonly audit: Audit
}

/** `POST /session` exchanges the admin token, or that of an operator, for a cookie that scripts can't read and other sites can't send. */
export const sessionRoutes: FastifyPluginAsyncTypebox<SessionOptions> = async (
  app,
  { operatorAuth, sessions, audit },
) => {
  const url = '/session'
  const cookies = { name: ADMIN_SESSION_COOKIE, basePath: '', pathsBelow: [] }
  app.post(url, OPEN, async (request, reply) => {
    const { admin_token: token } = request.body
    const operator = await operatorAuth.findByToken(token, reply)
    request.operator = operator
    await audit(request, { action: 'session.open' })
    const value = sessions.open(operator.name === undefined ? undefined : sha256(token))
    keepSession(reply, { cookies, value, maxAge: ADMIN_SESSION_SECONDS })
    return reply.code(204).send()
  })

  app.delete(url, CLOSE, async (request, reply) => {
    // First, because the database may not answer.
    forgetSession(reply, cookies)
    // Anyone may call this: only good sessions are audited, so that strangers can't fill the log.
    request.operator = await operatorAuth.lookForSession(request)
    if (request.operator !== undefined) await audit(request, { action: 'session.close' })
    return reply.code(204).send()
  })
}

const ofSession = describing({ tag: 'session', credentials: 'none', querystring: NO_QUERY })

const Session = Type.Object(
  { admin_token: Type.String() },
  {
    title: 'Session',
    additionalProperties: false,
    examples: [{ admin_token: 'the ADMIN_TOKEN of the deployment, or the token of an operator' }],
  },
)

const OwnSession = Type.Object(
  {
    operator: TextOrNull('The name of the operator; `null` with the `ADMIN_TOKEN`.', 'dana'),
    role: OneOf(OPERATOR_ROLES, 'What the operator may do.'),
  },
  { title: 'OwnSession' },
)

const LOOK = described({
  operationId: 'getSession',
  summary: 'Get the operator who sends the request',
  tag: 'session',
  querystring: NO_QUERY,
  response: { 200: OwnSession },
  responses: { 200: 'The operator and the role.' },
})

const OPEN = ofSession({
  operationId: 'openSession',
  summary: 'Open a browser session with the admin token, or that of an operator',
  description:
    'The web page of this listener uses this request. For 12 hours the cookie replaces the bearer token, except for ' +
    'requests from other sites. The cookie contains a signed expiry time, not the token. Changing ' +
    '`ADMIN_TOKEN` or removing the operator ends the session. If the cookie was set over HTTPS, browsers send it only over HTTPS.',
  body: Session,
  responses: { 204: { description: 'The cookie is set.', headers: ['Set-Cookie'] } },
  problems: ['unauthorized'],
})

const CLOSE = ofSession({
  operationId: 'closeSession',
  summary: 'Remove the session from the browser',
  responses: { 204: { description: 'The cookie is removed.', headers: ['Set-Cookie'] } },
})
