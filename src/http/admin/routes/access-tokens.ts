import { Type } from '../../openapi/type.ts'
import {
  AccessTokenPage,
  AccessTokenTerms,
  issuedToken,
  IssuedToken,
  termsIn,
  TokenId,
  tokenPage,
} from '../../routes/access-token-resource.ts'
import { PAGE_QUERY } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

export const accessTokenRoutes: OperatorPlugin = async (
  app,
  { useCases: { accessTokens }, audit },
) => {
  const collection = '/admin/users/:user_id/access-tokens'

  app.post(collection, ACCESS_TOKENS.issue, async (request, reply) => {
    const { user_id: userId } = request.params
    const terms = termsIn(request.body)
    const token = await accessTokens.issue({ userId, ...terms })
    const { tokenId: token_id, label, scope } = token
    await audit(request, {
      action: 'access_token.issue',
      user_id: userId,
      token_id,
      label,
      actions: scope?.actions.join(','),
      device_id: scope?.deviceId,
    })
    return reply.code(201).send(issuedToken(token))
  })

  app.get(collection, ACCESS_TOKENS.list, async (request) => {
    return await tokenPage(request.query, (page) => accessTokens.list(request.params.user_id, page))
  })

  app.delete(`${collection}/:token_id`, ACCESS_TOKENS.revoke, async (request, reply) => {
    const { user_id, token_id } = request.params
    await accessTokens.revoke({ userId: user_id, tokenId: token_id })
    await audit(request, { action: 'access_token.revoke', user_id, token_id })
    return reply.code(204).send()
  })
}

const OfToken = Type.Object({ user_id: USER_PARAM, token_id: TokenId })

const ofUser = describingUser({ tag: 'access tokens', problems: ['not_found'] })

const ACCESS_TOKENS = {
  issue: ofUser({
    operationId: 'createAccessToken',
    role: 'support',
    summary: 'Issue an access token',
    body: AccessTokenTerms,
    response: { 201: IssuedToken },
    responses: { 201: 'The new token. Its secret is shown only once.' },
    problems: ['not_found', 'access_token_limit_exceeded'],
  }),
  list: ofUser({
    operationId: 'listAccessTokens',
    summary: "List a user's access tokens, oldest first, without their secrets",
    querystring: PAGE_QUERY,
    response: { 200: AccessTokenPage },
    responses: { 200: 'One page of access tokens.' },
  }),
  revoke: ofUser({
    operationId: 'revokeAccessToken',
    role: 'support',
    summary: 'Revoke an access token, and those that were made with it',
    params: OfToken,
    responses: { 204: 'The token is revoked. Every instance refuses it within 5 s.' },
  }),
}
