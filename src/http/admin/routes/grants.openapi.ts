import type { FastifyContextConfig } from 'fastify'
import { jsonRequestBody } from '../../openapi/json-request-body.ts'
import { CURSOR, LIMIT, USER_ID } from '../../openapi/parameters.ts'
import { ANY_CALL, ANY_WRITE, REFERENCE, SOURCE } from '../api.ts'

const common = {
  tag: 'grants',
  credentials: 'required',
  parameters: [USER_ID, SOURCE, REFERENCE],
  problems: [...ANY_CALL, 'not_found'],
} as const

const write = { ...common, problems: [...ANY_WRITE, 'not_found'] } as const

const EXAMPLE = {
  source: 'promotion',
  reference: 'spring-2027',
  bytes: 2_147_483_648,
  starts_at: null,
  ends_at: '2027-07-01T00:00:00.000Z',
  created_at: '2026-11-21T12:00:00.000Z',
} as const

const TIME = { type: 'string', format: 'date-time' } as const

/** What the OpenAPI document says of each call. */
export const GRANTS = {
  put: {
    operation: {
      ...write,
      operationId: 'putGrant',
      summary: 'Grant capacity',
      description: 'Repeating it counts once; the last terms count.',
      requestBody: jsonRequestBody({
        required: true,
        schema: {
          title: 'GrantTerms',
          type: 'object',
          additionalProperties: false,
          required: ['bytes'],
          properties: {
            bytes: {
              type: 'integer',
              minimum: 0,
              maximum: Number.MAX_SAFE_INTEGER,
              description: 'What it adds to the capacity while it is in force.',
            },
            starts_at: { ...TIME, description: 'When it comes into force; at once without.' },
            ends_at: { ...TIME, description: 'When it ends, after `starts_at`; never without.' },
          },
        },
        example: { bytes: 2_147_483_648, ends_at: '2027-07-01T00:00:00Z' },
      }),
      responses: {
        200: { description: 'It was there already and has these terms now.', example: EXAMPLE },
        201: { description: 'It is granted.', example: EXAMPLE },
      },
    },
  },
  revoke: {
    operation: {
      ...write,
      operationId: 'revokeGrant',
      summary: 'Revoke a grant, which shrinks the capacity and deletes nothing',
      responses: { 204: { description: 'It is not there, or not any more.' } },
    },
  },
  list: {
    operation: {
      ...common,
      operationId: 'listGrants',
      summary: "List a user's grants, the devices among them",
      parameters: [USER_ID, LIMIT, CURSOR],
      responses: {
        200: {
          description: 'A page of grants.',
          example: { grants: [EXAMPLE], next_cursor: null },
        },
      },
    },
  },
} as const satisfies Record<string, FastifyContextConfig>
