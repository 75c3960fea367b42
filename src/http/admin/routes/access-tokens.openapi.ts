import type { FastifyContextConfig } from 'fastify'
import { jsonRequestBody } from '../../openapi/json-request-body.ts'
import { CURSOR, LIMIT, USER_ID } from '../../openapi/parameters.ts'
import { ANY_CALL, ANY_WRITE, TOKEN_ID } from '../api.ts'

const common = {
  tag: 'access tokens',
  credentials: 'required',
  problems: [...ANY_CALL, 'not_found'],
} as const

const write = { ...common, problems: [...ANY_WRITE, 'not_found'] } as const

const TERMS = {
  token_id: '0f2b6a3e-6d0c-4a7e-8f7c-2b9d8a1c5e44',
  label: 'phone',
  created_at: '2026-11-21T12:00:00.000Z',
  expires_at: '2026-12-21T12:00:00.000Z',
} as const

/** What the OpenAPI document says of each call. */
export const ACCESS_TOKENS = {
  issue: {
    operation: {
      ...write,
      operationId: 'issueAccessToken',
      summary: 'Issue an access token',
      parameters: [USER_ID],
      requestBody: jsonRequestBody({
        required: false,
        schema: {
          title: 'AccessTokenTerms',
          type: 'object',
          additionalProperties: false,
          properties: {
            label: {
              type: 'string',
              maxLength: 200,
              pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
              description: 'What it is for, without controls.',
            },
            expires_in: {
              type: 'integer',
              minimum: 1,
              maximum: 3_162_240_000,
              description: 'Seconds that it is valid; for ever without.',
            },
          },
        },
        example: { label: 'phone', expires_in: 2_592_000 },
      }),
      responses: {
        201: {
          description: 'The token, which is shown this once.',
          example: { ...TERMS, access_token: `crt_${'A'.repeat(43)}` },
        },
      },
    },
  },
  list: {
    operation: {
      ...common,
      operationId: 'listAccessTokens',
      summary: "List a user's access tokens, oldest first, without their secrets",
      parameters: [USER_ID, LIMIT, CURSOR],
      responses: {
        200: {
          description: 'A page of access tokens.',
          example: {
            access_tokens: [{ ...TERMS, revoked_at: null, last_used_at: null }],
            next_cursor: null,
          },
        },
      },
    },
  },
  revoke: {
    operation: {
      ...write,
      operationId: 'revokeAccessToken',
      summary: 'Revoke an access token',
      parameters: [USER_ID, TOKEN_ID],
      responses: { 204: { description: 'It is revoked, on every instance within 5 s.' } },
    },
  },
} as const satisfies Record<string, FastifyContextConfig>
