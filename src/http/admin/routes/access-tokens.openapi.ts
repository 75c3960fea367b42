import {
  LABEL_PATTERN,
  MAX_EXPIRES_IN_SECONDS,
  MAX_LABEL_LENGTH,
} from '../../../core/auth/access-tokens.ts'
import { describing } from '../../openapi/operation.ts'
import { Page, Text, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { OF_USER } from '../api.ts'

const OfToken = Type.Object({
  ...OF_USER.params.properties,
  token_id: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description:
      'The id of the access token, not its secret: 1 to 64 characters from `A-Z a-z 0-9 _ -`.',
  }),
})

const Terms = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        maxLength: MAX_LABEL_LENGTH,
        pattern: LABEL_PATTERN,
        description: `The purpose of the token: at most ${MAX_LABEL_LENGTH} characters, without control characters.`,
        examples: ['phone'],
      }),
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EXPIRES_IN_SECONDS,
        description: 'Lifetime of the token in seconds. By default, the token does not expire.',
        examples: [2_592_000],
      }),
    ),
  },
  { title: 'AccessTokenTerms', additionalProperties: false },
)

const common = {
  token_id: Text('The id of the token, not its secret.', '0f2b6a3e-6d0c-4a7e-8f7c-2b9d8a1c5e44'),
  label: Text('The purpose of the token; may be empty.', 'phone'),
  created_at: Time('When the token was issued.'),
  expires_at: TimeOrNull('When the token expires.', '2026-12-21T12:00:00.000Z'),
}

const IssuedAccessToken = Type.Object(
  {
    ...common,
    access_token: Text('The token itself. Only this response has it.', `crt_${'A'.repeat(43)}`),
  },
  { title: 'IssuedAccessToken' },
)

const AccessToken = Type.Object(
  {
    ...common,
    revoked_at: TimeOrNull('When the token was revoked.'),
    last_used_at: TimeOrNull('When the token was last used, accurate to about a minute.'),
  },
  { title: 'AccessToken', description: 'An access token without its secret.' },
)

const AccessTokenPage = Page('AccessTokenPage', { access_tokens: Type.Array(AccessToken) })

const ofUser = describing({ ...OF_USER, tag: 'access tokens', problems: ['not_found'] })

export const ACCESS_TOKENS = {
  issue: ofUser({
    operationId: 'issueAccessToken',
    summary: 'Issue an access token',
    body: Terms,
    response: { 201: IssuedAccessToken },
    responses: { 201: 'The new token. Its secret is shown only once.' },
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
    summary: 'Revoke an access token',
    params: OfToken,
    responses: { 204: 'The token is revoked. Every instance refuses it within 5 s.' },
  }),
}
