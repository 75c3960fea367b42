import type { FastifyRequest } from 'fastify'
import { discardBody } from '../body/discard-body.ts'
import { describing } from '../openapi/operation.ts'
import { Type } from '../openapi/type.ts'
import {
  AccessTokenPage,
  AccessTokenTerms,
  issuedToken,
  IssuedToken,
  termsIn,
  TokenId,
  tokenPage,
} from '../routes/access-token-resource.ts'
import { PAGE_QUERY } from '../routes/pagination.ts'
import { requireUser } from './access-token.ts'
import type { UserPlugin } from './user-plugin.ts'

const TOKENS = '/users/me/access-tokens'

/** Users create, list and revoke tokens, for their devices and for other people. */
export const accessTokenRoutes: UserPlugin = async (
  app,
  { useCases: { accessTokens }, readInTurn },
) => {
  const onRequest = async (request: FastifyRequest) => void requireUser(request, ['share'])

  app.route({
    method: ['GET', 'HEAD'],
    url: TOKENS,
    ...LIST,
    onRequest,
    handler: async (request, reply) => {
      const { userId, parentId, inspect } = maker(request)
      await inspect()
      void reply.header('cache-control', 'no-store')
      return await tokenPage(request.query, (page) =>
        readInTurn(reply, () => accessTokens.list(userId, page, parentId)),
      )
    },
  })

  app.delete(`${TOKENS}/:token_id`, { ...REVOKE, onRequest }, async (request, reply) => {
    const { userId, parentId, inspect } = maker(request)
    await discardBody(reply)
    await inspect()
    await accessTokens.revoke({ userId, tokenId: request.params.token_id, parentId })
    return reply.code(204).send()
  })

  app.post(TOKENS, { ...ISSUE, onRequest }, async (request, reply) => {
    const caller = requireUser(request, ['share'])
    const issued = await accessTokens.issueChild({ subject: caller, ...termsIn(request.body) })
    return reply.code(201).header('cache-control', 'no-store').send(issuedToken(issued))
  })
}

/** A token with a scope sees and revokes only those that it has made. */
function maker(request: FastifyRequest) {
  const { userId, tokenId, scope, inspect } = requireUser(request, ['share'])
  return { userId, inspect, parentId: scope && tokenId }
}

const ofTokens = describing({ tag: 'access tokens' })

const ISSUE = ofTokens({
  operationId: 'createAccessToken',
  summary: "Create an access token that permits no more than the caller's",
  description:
    "Members that the body omits are inherited from the caller's token. The new token is revoked with it, and expires " +
    'with it at the latest if it has a scope. The body is JSON in UTF-8 of at most 16 KiB.',
  body: AccessTokenTerms,
  response: { 201: IssuedToken },
  responses: {
    201: {
      description: 'The new token. Its secret is shown only once.',
      headers: ['Cache-Control'],
    },
  },
  problems: ['not_found', 'access_token_limit_exceeded'],
})

const LIST = ofTokens({
  operationId: 'listAccessTokens',
  summary: "List the caller's access tokens, oldest first, without their secrets",
  description: 'With a token that has a scope: those that it has made.',
  querystring: PAGE_QUERY,
  response: { 200: AccessTokenPage },
  responses: { 200: { description: 'One page of access tokens.', headers: ['Cache-Control'] } },
})

const REVOKE = ofTokens({
  operationId: 'revokeAccessToken',
  summary: "Revoke one of the caller's access tokens, and those that were made with it",
  params: Type.Object({ token_id: TokenId }),
  responses: { 204: 'The token is revoked. Every instance refuses it within 5 s.' },
  problems: ['not_found'],
})
