import type { onRequestAsyncHookHandler } from 'fastify'
import { MAX_PASSWORD_LENGTH, PASSWORD_PATTERN } from '../../../core/links/link-password.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { isHttps } from '../../pages/session-cookie.ts'
import { assertSameSite } from '../../server/csrf.ts'
import { prefixesOf } from '../../server/service-address.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import {
  credentialsOf,
  findVisitor,
  LINK_COOKIE,
  LINK_PATH,
  type LinkOptions,
  secretOf,
} from './visitor.ts'

/** Exchanges the password of a link for a cookie that opens it for a day. */
export const unlockLinkRoutes: FastifyPluginAsyncTypebox<LinkOptions> = async (
  app,
  { useCases: { links }, address, allowedOrigins },
) => {
  const allowed = new Set(allowedOrigins)
  const onRequest: onRequestAsyncHookHandler = async (_request, reply) =>
    assertSameSite(reply, allowed)
  app.post(LINK_PATH, { ...UNLOCK, onRequest }, async (request, reply) => {
    const { link } = await findVisitor(request, links)
    const { password } = request.body
    const key = await links.unlock(link, { ...credentialsOf(reply), password })
    for (const prefix of prefixesOf(address)) {
      void reply.setCookie(LINK_COOKIE, key, {
        path: `${prefix}/links/${secretOf(request)}`,
        httpOnly: true,
        sameSite: 'strict',
        secure: isHttps(request),
        maxAge: MAX_SESSION_SECONDS,
      })
    }
    return reply.code(204).send()
  })
}

const MAX_SESSION_SECONDS = 24 * 3600

const UNLOCK = ofLinks({
  operationId: 'unlockLink',
  summary: 'Store the password of a link in a browser cookie',
  description:
    'For the page of the link. Wrong passwords are limited like wrong tokens. The body is JSON in UTF-8 of at most 16 KiB.',
  parameters: { path: { secret: LINK_SECRET } },
  body: Type.Object(
    {
      password: Type.String({
        minLength: 1,
        maxLength: MAX_PASSWORD_LENGTH,
        pattern: PASSWORD_PATTERN,
        description: 'The password of the link.',
      }),
    },
    { title: 'LinkPassword', additionalProperties: false, examples: [{ password: 'swordfish' }] },
  ),
  responses: { 204: { description: 'The cookie is set.', headers: ['Set-Cookie'] } },
  problems: ['not_found', 'link_password_invalid'],
})
