import { Type } from '../../openapi/type.ts'
import { LinkChangesBody, linkChangesIn } from '../../routes/link-changes.ts'
import {
  LinkId,
  linkPage,
  LinkPageReply,
  LinkReply,
  linkReply,
} from '../../routes/link-resource.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { operatorHook, operatorOf } from '../operator-subject.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const linkRoutes: OperatorPlugin = async (app, { useCases: { users, links }, audit }) => {
  const preHandler = operatorHook(users, 'links')
  const collection = '/admin/users/:user_id/links'

  app.get(collection, { ...LIST, preHandler }, async (request) => {
    const subject = operatorOf(request)
    return await linkPage(request.query, (page) => links.list(subject, page))
  })

  app.patch(`${collection}/:link_id`, { ...CHANGE, preHandler }, async (request, reply) => {
    const { user_id, link_id } = request.params
    const changes = linkChangesIn(request.body)
    const subject = operatorOf(request)
    const signal = requestSignal(reply)
    const link = await links.update({ subject, linkId: link_id, signal, ...changes })
    await audit(request, { action: 'link.update', user_id, link_id })
    return linkReply(link)
  })

  app.delete(`${collection}/:link_id`, { ...REVOKE, preHandler }, async (request, reply) => {
    const { user_id, link_id } = request.params
    await links.revoke(operatorOf(request), link_id)
    await audit(request, { action: 'link.revoke', user_id, link_id })
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

const ONE = Type.Object({ user_id: USER_PARAM, link_id: LinkId })

const CHANGE = ofUser({
  operationId: 'updateUserLink',
  role: 'support',
  summary: 'Change a link of a user',
  description: 'Members that the body omits do not change.',
  params: ONE,
  body: LinkChangesBody,
  response: { 200: LinkReply },
  responses: { 200: 'The changed link.' },
})

const REVOKE = ofUser({
  operationId: 'revokeUserLink',
  role: 'support',
  summary: 'Revoke a link of a user',
  params: ONE,
  responses: { 204: 'The link is revoked. Every instance refuses it from now on.' },
})
