import { USER_ID_PREFIX_PATTERN } from '../../../core/users/user-id.ts'
import { described } from '../../openapi/operation.ts'
import { NextCursor, OneOf, Time, USAGE } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readLimit } from '../../shared-routes/pagination.ts'
import { NO_QUERY, OF_USER } from '../api.ts'

const User = Type.Object(
  {
    user_id: Type.String({ description: 'Names the user for ever.' }),
    status: OneOf(
      ['active', 'suspended', 'deleted'],
      '`deleted` until all that the user had is purged.',
    ),
    created_at: Time('When the user was made.'),
    capacity: Type.Object(USAGE),
  },
  { title: 'User' },
)

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

const UserPage = Type.Object(
  { users: Type.Array(User), next_cursor: NextCursor },
  { title: 'UserPage' },
)

const Nothing = Type.Object({}, { additionalProperties: false, examples: [{}] })

const Status = Type.Object(
  {
    status: Type.Unsafe<'active' | 'suspended'>({ type: 'string', enum: ['active', 'suspended'] }),
  },
  { additionalProperties: false, examples: [{ status: 'suspended' }] },
)

const ListQuery = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({
        pattern: USER_ID_PREFIX_PATTERN,
        description:
          'What the ids begin with: at most 64 of `A-Z a-z 0-9 _ -`. Compared byte by byte.',
        examples: ['ali'],
      }),
    ),
    ...PAGE_QUERY.properties,
  },
  { additionalProperties: false },
)

const tag = 'users'
const unknown = ['not_found'] as const
const MADE = { description: 'The user is made.', example: EXAMPLE }

/** The options of each route: what it takes and answers, and what the OpenAPI document says besides. */
export const USERS = {
  make: described(
    { body: Nothing, querystring: NO_QUERY, response: { 201: User } },
    {
      operationId: 'createUser',
      summary: 'Make a user with a generated id',
      tag,
      responses: { 201: MADE },
    },
  ),
  put: described(
    { ...OF_USER, body: Nothing, response: { 200: User, 201: User } },
    {
      operationId: 'putUser',
      summary: 'Make a user of this id, if there is none',
      tag,
      responses: {
        200: { description: 'The user was there already.', example: EXAMPLE },
        201: MADE,
      },
      problems: ['user_exists'],
    },
  ),
  list: {
    preValidation: readLimit,
    ...described(
      { querystring: ListQuery, response: { 200: UserPage } },
      {
        operationId: 'listUsers',
        summary: 'List users in the order of their ids',
        tag,
        responses: {
          200: {
            description: 'A page of users.',
            example: { users: [EXAMPLE], next_cursor: null },
          },
        },
      },
    ),
  },
  show: described(
    { ...OF_USER, response: { 200: User } },
    {
      operationId: 'getUser',
      summary: 'Show a user',
      tag,
      responses: { 200: { description: 'The user.', example: EXAMPLE } },
      problems: unknown,
    },
  ),
  patch: described(
    { ...OF_USER, body: Status, response: { 200: User } },
    {
      operationId: 'setUserStatus',
      summary: 'Suspend a user, or let one in again',
      description: 'In force from the next request on, on other instances within 5 s.',
      tag,
      responses: {
        200: {
          description: 'The user as it is now.',
          example: { ...EXAMPLE, status: 'suspended' },
        },
      },
      problems: unknown,
    },
  ),
  remove: described(OF_USER, {
    operationId: 'deleteUser',
    summary: 'Delete a user and all files',
    description:
      'No file and no token of the user answers from now on (on other instances within 5 s). Files and rows are purged ' +
      'later, and then the user is not found.',
    tag,
    responses: { 202: { description: 'The user is deleted, and will be purged.' } },
    problems: unknown,
  }),
}
