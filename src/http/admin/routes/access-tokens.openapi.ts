import {
  LABEL_PATTERN,
  MAX_EXPIRES_IN_SECONDS,
  MAX_LABEL_LENGTH,
} from '../../../core/auth/access-tokens.ts'
import { described } from '../../openapi/operation.ts'
import { NextCursor, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readLimit } from '../../shared-routes/pagination.ts'
import { NO_QUERY, OF_USER } from '../api.ts'

const OfToken = Type.Object({
  ...OF_USER.params.properties,
  token_id: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description:
      'The id of an access token, which is not its secret: 1 to 64 of `A-Z a-z 0-9 _ -`.',
  }),
})

const Terms = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        maxLength: MAX_LABEL_LENGTH,
        pattern: LABEL_PATTERN,
        description: `What it is for: at most ${MAX_LABEL_LENGTH} characters, none of them a control.`,
      }),
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EXPIRES_IN_SECONDS,
        description: 'Seconds that it is valid; for ever without.',
      }),
    ),
  },
  {
    title: 'AccessTokenTerms',
    additionalProperties: false,
    examples: [{ label: 'phone', expires_in: 2_592_000 }],
  },
)

const common = {
  token_id: Type.String({ description: 'Names the token; it is not its secret.' }),
  label: Type.String({ description: 'What the token is for; may be empty.' }),
  created_at: Time('When it was issued.'),
  expires_at: TimeOrNull('When it ends by itself.'),
}

const IssuedAccessToken = Type.Object(
  { ...common, access_token: Type.String({ description: 'The token, shown this once.' }) },
  { title: 'IssuedAccessToken' },
)

const AccessToken = Type.Object(
  {
    ...common,
    revoked_at: TimeOrNull('When it was revoked.'),
    last_used_at: TimeOrNull('When it was last used, to within a minute or so.'),
  },
  { title: 'AccessToken', description: 'An access token without its secret.' },
)

const AccessTokenPage = Type.Object(
  { access_tokens: Type.Array(AccessToken), next_cursor: NextCursor },
  { title: 'AccessTokenPage' },
)

const EXAMPLE = {
  token_id: '0f2b6a3e-6d0c-4a7e-8f7c-2b9d8a1c5e44',
  label: 'phone',
  created_at: '2026-11-21T12:00:00.000Z',
  expires_at: '2026-12-21T12:00:00.000Z',
} as const

const every = { tag: 'access tokens', problems: ['not_found'] } as const

/** The options of each route: what it takes and answers, and what the OpenAPI document says besides. */
export const ACCESS_TOKENS = {
  issue: described(
    { ...OF_USER, body: Terms, response: { 201: IssuedAccessToken } },
    {
      ...every,
      operationId: 'issueAccessToken',
      summary: 'Issue an access token',
      responses: {
        201: {
          description: 'The token, which is shown this once.',
          example: { ...EXAMPLE, access_token: `crt_${'A'.repeat(43)}` },
        },
      },
    },
  ),
  list: {
    preValidation: readLimit,
    ...described(
      { ...OF_USER, querystring: PAGE_QUERY, response: { 200: AccessTokenPage } },
      {
        ...every,
        operationId: 'listAccessTokens',
        summary: "List a user's access tokens, oldest first, without their secrets",
        responses: {
          200: {
            description: 'A page of access tokens.',
            example: {
              access_tokens: [{ ...EXAMPLE, revoked_at: null, last_used_at: null }],
              next_cursor: null,
            },
          },
        },
      },
    ),
  },
  revoke: described(
    { params: OfToken, querystring: NO_QUERY },
    {
      ...every,
      operationId: 'revokeAccessToken',
      summary: 'Revoke an access token',
      responses: { 204: { description: 'It is revoked, on every instance within 5 s.' } },
    },
  ),
}
