import { Type } from '../../openapi/type.ts'
import {
  AccessTokenPage,
  AccessTokenTerms,
  IssuedToken,
  TokenId,
} from '../../shared-routes/access-token-resource.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { describingUser, USER_PARAM } from '../route-schemas.ts'

const OfToken = Type.Object({ user_id: USER_PARAM, token_id: TokenId })

const ofUser = describingUser({ tag: 'access tokens', problems: ['not_found'] })

export const ACCESS_TOKENS = {
  issue: ofUser({
    operationId: 'issueAccessToken',
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
    summary: 'Revoke an access token, and those that were made with it',
    params: OfToken,
    responses: { 204: 'The token is revoked. Every instance refuses it within 5 s.' },
  }),
}
