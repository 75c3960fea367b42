import type { FastifyContextConfig } from 'fastify'
import { jsonRequestBody } from '../../openapi/json-request-body.ts'
import type { Operation } from '../../openapi/operation.ts'
import { CURSOR, LIMIT, USER_ID } from '../../openapi/parameters.ts'
import { ANY_CALL, ANY_WRITE } from '../api.ts'

const EXAMPLE = {
  user_id: 'alice',
  status: 'active',
  created_at: '2026-11-21T12:00:00.000Z',
  capacity: {
    capacity: 1_073_741_824,
    used: 6143,
    reserved: 0,
    available: 1_073_735_681,
    file_count: 1,
    state: 'normal',
  },
} as const

const EMPTY = jsonRequestBody({
  required: false,
  schema: { type: 'object', additionalProperties: false, maxProperties: 0 },
  example: {},
})

const common = { tag: 'users', credentials: 'required' } as const satisfies Partial<Operation>

const PREFIX = {
  name: 'prefix',
  in: 'query',
  description: 'What the ids begin with; compared byte by byte.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  example: 'ali',
} as const

const ONE = { ...common, parameters: [USER_ID], problems: [...ANY_CALL, 'not_found'] } as const

const WRITE = { ...ONE, problems: [...ANY_WRITE, 'not_found'] } as const

/** What the OpenAPI document says of each call. */
export const USERS = {
  make: {
    operation: {
      ...common,
      operationId: 'createUser',
      summary: 'Make a user with a generated id',
      requestBody: EMPTY,
      responses: { 201: { description: 'The user is made.', example: EXAMPLE } },
      problems: ANY_WRITE,
    },
  },
  put: {
    operation: {
      ...WRITE,
      operationId: 'putUser',
      summary: 'Make a user of this id, if there is none',
      requestBody: EMPTY,
      responses: {
        200: { description: 'The user was there already.', example: EXAMPLE },
        201: { description: 'The user is made.', example: EXAMPLE },
      },
      problems: [...ANY_WRITE, 'user_exists'],
    },
  },
  list: {
    operation: {
      ...common,
      operationId: 'listUsers',
      summary: 'List users in the order of their ids',
      parameters: [PREFIX, LIMIT, CURSOR],
      responses: {
        200: { description: 'A page of users.', example: { users: [EXAMPLE], next_cursor: null } },
      },
      problems: ANY_CALL,
    },
  },
  show: {
    operation: {
      ...ONE,
      operationId: 'getUser',
      summary: 'Show a user',
      responses: { 200: { description: 'The user.', example: EXAMPLE } },
    },
  },
  patch: {
    operation: {
      ...WRITE,
      operationId: 'setUserStatus',
      summary: 'Suspend a user, or let one in again',
      description: 'In force from the next request on, on other instances within 5 s.',
      requestBody: jsonRequestBody({
        required: true,
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['status'],
          properties: { status: { type: 'string', enum: ['active', 'suspended'] } },
        },
        example: { status: 'suspended' },
      }),
      responses: {
        200: {
          description: 'The user as it is now.',
          example: { ...EXAMPLE, status: 'suspended' },
        },
      },
    },
  },
  remove: {
    operation: {
      ...WRITE,
      operationId: 'deleteUser',
      summary: 'Delete a user and all files',
      description:
        'No file and no token of the user answers from now on (on other instances within 5 s). Files and rows are purged ' +
        'later, and then the user is not found.',
      responses: { 202: { description: 'The user is deleted, and will be purged.' } },
    },
  },
} as const satisfies Record<string, FastifyContextConfig>
