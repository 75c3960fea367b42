import type { FastifyRequest } from 'fastify'
import type { CreatedLink } from '../../../core/links/links.ts'
import { discardBody } from '../../body/discard-body.ts'
import { describing, withParsed } from '../../openapi/operation.ts'
import { FILE_NAME_SCHEMA } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { baseUrlOf } from '../../server/service-address.ts'
import { LinkChangesBody, linkChangesIn } from '../../routes/link-changes.ts'
import {
  LinkId,
  linkPage,
  LinkPageReply,
  LinkReply,
  linkReply,
} from '../../routes/link-resource.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { CreatedLinkReply, LinkBody, linkTermsIn } from './link-resource.ts'

const LINKS = '/users/me/links'

/** Users create, list, change and revoke links for people without an account. */
export const ownLinkRoutes: UserPlugin = async (
  app,
  { useCases: { links }, address, readInTurn },
) => {
  const onRequest = async (request: FastifyRequest) => void requireUser(request, ['share'])

  app.route({
    method: ['GET', 'HEAD'],
    url: LINKS,
    ...LIST,
    onRequest,
    handler: async (request, reply) => {
      const subject = requireUser(request, ['share'])
      void reply.header('cache-control', 'no-store')
      return await linkPage(request.query, (page) =>
        readInTurn(reply, () => links.list(subject, page)),
      )
    },
  })

  app.delete(`${LINKS}/:link_id`, { ...REVOKE, onRequest }, async (request, reply) => {
    const subject = requireUser(request, ['share'])
    await discardBody(reply)
    await links.revoke(subject, request.params.link_id)
    return reply.code(204).send()
  })

  app.post(LINKS, { ...CREATE, onRequest }, async (request, reply) => {
    const subject = requireUser(request, ['share'])
    const terms = linkTermsIn(request.body)
    const link = await links.create({ ...terms, subject, signal: requestSignal(reply) })
    return reply.code(201).header('cache-control', 'no-store').send(withSecret(request, link))
  })

  app.patch(`${LINKS}/:link_id`, { ...CHANGE, onRequest }, async (request, reply) => {
    const subject = requireUser(request, ['share'])
    const { link_id: linkId } = request.params
    const changes = linkChangesIn(request.body)
    const signal = requestSignal(reply)
    void reply.header('cache-control', 'no-store')
    return linkReply(await links.update({ subject, linkId, signal, ...changes }))
  })

  app.post(`${LINKS}/:link_id/secret`, { ...RENEW, onRequest }, async (request, reply) => {
    const subject = requireUser(request, ['share'])
    await discardBody(reply)
    void reply.header('cache-control', 'no-store')
    return withSecret(request, await links.renewSecret(subject, request.params.link_id))
  })

  function withSecret(request: FastifyRequest, link: CreatedLink) {
    const { secret } = link
    const url = `${baseUrlOf(request, address)}/links/${secret}`
    return { ...linkReply(link), url, secret }
  }
}

const ofOwnLinks = describing({ tag: 'links' })

const CREATE = ofOwnLinks({
  operationId: 'createLink',
  summary: 'Create a link that gives or takes files without an account',
  description:
    "The caller's token needs `share`, and `read` for a download link or `create` for a drop link. Revoking the token " +
    'revokes the link, which expires with it if the token has a scope. The body is JSON in UTF-8 of at most 16 KiB.',
  body: LinkBody,
  jsonBody: withParsed(LinkBody, { name: FILE_NAME_SCHEMA }),
  response: { 201: CreatedLinkReply },
  responses: {
    201: {
      description: 'The new link. Its secret is shown only once.',
      headers: ['Cache-Control'],
    },
  },
  problems: ['invalid_file_name', 'link_count_exceeded'],
})

const LIST = ofOwnLinks({
  operationId: 'listLinks',
  summary: "List the caller's links, oldest first, without their secrets",
  description:
    'With a token that has a scope: those that it has made. Links that have ended are kept for a while.',
  querystring: PAGE_QUERY,
  response: { 200: LinkPageReply },
  responses: { 200: { description: 'One page of links.', headers: ['Cache-Control'] } },
})

const ONE = Type.Object({ link_id: LinkId })

const CHANGE = ofOwnLinks({
  operationId: 'updateLink',
  summary: "Change one of the caller's links",
  description:
    'Members that the body omits do not change. The tokens that may revoke the link may change it. The body is JSON in UTF-8 of at most 16 KiB.',
  params: ONE,
  body: LinkChangesBody,
  response: { 200: LinkReply },
  responses: { 200: { description: 'The changed link.', headers: ['Cache-Control'] } },
  problems: ['not_found'],
})

const RENEW = ofOwnLinks({
  operationId: 'renewLinkSecret',
  summary: "Give one of the caller's links a new secret",
  description: 'Every instance refuses the old one from now on.',
  params: ONE,
  response: { 200: CreatedLinkReply },
  responses: {
    200: { description: 'The link. Its secret is shown only once.', headers: ['Cache-Control'] },
  },
  problems: ['not_found'],
})

const REVOKE = ofOwnLinks({
  operationId: 'revokeLink',
  summary: "Revoke one of the caller's links",
  params: ONE,
  responses: { 204: 'The link is revoked. Every instance refuses it from now on.' },
  problems: ['not_found'],
})
