import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { LinkId, LinkPageReply, linkReply, pagedLinks } from '../../shared-routes/link-resource.ts'
import { PAGE_QUERY, readPage } from '../../shared-routes/pagination.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'
import type { AuditedOptions } from '../audit.ts'

export const linkRoutes: FastifyPluginAsyncTypebox<AuditedOptions> = async (app, { audited }) => {
  const collection = '/admin/users/:user_id/links'

  app.get(collection, LIST, async (request) => {
    const { linkAdministration } = audited(request)
    const list = pagedLinks((page) => linkAdministration.list(request.params.user_id, page))
    const { entries, next_cursor } = await readPage(request.query, list)
    return { links: entries.map(linkReply), next_cursor }
  })

  app.delete(`${collection}/:link_id`, REVOKE, async (request, reply) => {
    const { user_id: userId, link_id: linkId } = request.params
    await audited(request).linkAdministration.revoke({ userId, linkId })
    return reply.code(204).send()
  })
}

const ofUser = describingUser({ tag: 'links', problems: ['not_found', 'user_suspended'] })

const LIST = ofUser({
  operationId: 'listUserLinks',
  summary: "List a user's links, oldest first, without their secrets",
  description: 'Links that have ended are kept for a while. Those of a suspended user do not work.',
  querystring: PAGE_QUERY,
  response: { 200: LinkPageReply },
  responses: { 200: 'One page of the links of an active user.' },
})

const REVOKE = ofUser({
  operationId: 'revokeUserLink',
  summary: 'Revoke a link of a user',
  params: Type.Object({ user_id: USER_PARAM, link_id: LinkId }),
  responses: { 204: 'The link is revoked. Every instance refuses it from now on.' },
})
