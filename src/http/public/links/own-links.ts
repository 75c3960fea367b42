import type { FastifyRequest } from 'fastify'
import { discardBody } from '../../body/discard-body.ts'
import { describing, withParsed } from '../../openapi/operation.ts'
import { FILE_NAME_SCHEMA } from '../../openapi/parameters.ts'
import { Type } from '../../openapi/type.ts'
import { originOf } from '../../server/forwarded.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { LinkId, linkPage, LinkPageReply, linkReply } from '../../routes/link-resource.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import { requireUser } from '../access-token.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { CreatedLinkReply, LinkBody, linkTermsIn } from './link-resource.ts'

const LINKS = '/users/me/links'

/** Users create, list and revoke links for people without an account. */
export const ownLinkRoutes: UserPlugin = async (
  app,
  { useCases: { links }, basePath, readInTurn },
) => {
  const onRequest = async (request: FastifyRequest) => void requireUser(request, ['share'])

  app.route({
    method: ['GET', 'HEAD'],
    url: LINKS,
    ...LIST,
    onRequest,
    handler: async (request, reply) => {
      const caller = requireUser(request, ['share'])
      void reply.header('cache-control', 'no-store')
      return await linkPage(request.query, (page) =>
        readInTurn(reply, () => links.list(caller, page)),
      )
    },
  })

  app.delete(`${LINKS}/:link_id`, { ...REVOKE, onRequest }, async (request, reply) => {
    const caller = requireUser(request, ['share'])
    await discardBody(reply)
    await links.revoke(caller, request.params.link_id)
    return reply.code(204).send()
  })

  app.post(LINKS, { ...CREATE, onRequest }, async (request, reply) => {
    const caller = requireUser(request, ['share'])
    const terms = linkTermsIn(request.body)
    const link = await links.create({ ...terms, subject: caller, signal: requestSignal(reply) })
    const { secret } = link
    const url = `${originOf(request)}${basePath}/links/${secret}`
    const created = { ...linkReply(link), url, secret }
    return reply.code(201).header('cache-control', 'no-store').send(created)
  })
}

const ofOwnLinks = describing({ tag: 'links' })

const CREATE = ofOwnLinks({
  operationId: 'createLink',
  summary: 'Create a link that gives or takes files without an account',
  description:
    "The caller's token needs `share`, and `read` for a download link or `create` for a drop link. Revoking the token " +
    'revokes the link, which expires with it if the token has a scope or was made by another one. The body is JSON in UTF-8 of at most 16 KiB.',
  body: LinkBody,
  jsonBody: withParsed(LinkBody, { name: FILE_NAME_SCHEMA }),
  response: { 201: CreatedLinkReply },
  responses: {
    201: {
      description: 'The new link. Its secret is shown only once.',
      headers: ['Cache-Control'],
    },
  },
  problems: ['invalid_file_name', 'link_limit_exceeded'],
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

const REVOKE = ofOwnLinks({
  operationId: 'revokeLink',
  summary: "Revoke one of the caller's links",
  params: Type.Object({ link_id: LinkId }),
  responses: { 204: 'The link is revoked. Every instance refuses it from now on.' },
  problems: ['not_found'],
})
