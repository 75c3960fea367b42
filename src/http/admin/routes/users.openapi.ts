import { USER_ID_PREFIX_PATTERN } from '../../../core/users/user-id.ts'
import { described } from '../../openapi/operation.ts'
import { OneOf, Page, Text, Time, USAGE } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { NO_QUERY, OF_USER } from '../api.ts'

const User = Type.Object(
  {
    user_id: Text('Names the user for ever.', 'alice'),
    status: OneOf(
      ['active', 'suspended', 'deleted'],
      '`deleted` until all that the user had is purged.',
    ),
    created_at: Time('When the user was made.'),
    capacity: Type.Object(USAGE),
  },
  { title: 'User' },
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

const UserPage = Page('UserPage', { users: Type.Array(User) })

const ofUser = { ...OF_USER, problems: ['not_found'] } as const

export const USERS = {
  make: described({
    operationId: 'createUser',
    summary: 'Make a user with a generated id',
    tag: 'users',
    querystring: NO_QUERY,
    body: Nothing,
    response: { 201: User },
    responses: { 201: 'The user is made.' },
  }),
  put: described({
    ...OF_USER,
    operationId: 'putUser',
    summary: 'Make a user of this id, if there is none',
    tag: 'users',
    body: Nothing,
    response: { 200: User, 201: User },
    responses: { 200: 'The user was there already.', 201: 'The user is made.' },
    problems: ['user_exists'],
  }),
  list: described({
    operationId: 'listUsers',
    summary: 'List users in the order of their ids',
    tag: 'users',
    querystring: ListQuery,
    response: { 200: UserPage },
    responses: { 200: 'A page of users.' },
  }),
  show: described({
    ...ofUser,
    operationId: 'getUser',
    summary: 'Show a user',
    tag: 'users',
    response: { 200: User },
    responses: { 200: 'The user.' },
  }),
  patch: described({
    ...ofUser,
    operationId: 'setUserStatus',
    summary: 'Suspend a user, or let one in again',
    description: 'In force from the next request on, on other instances within 5 s.',
    tag: 'users',
    body: Status,
    response: { 200: User },
    responses: {
      200: { description: 'The user as it is now.', example: { status: 'suspended' } },
    },
  }),
  remove: described({
    ...ofUser,
    operationId: 'deleteUser',
    summary: 'Delete a user and all files',
    description:
      'No file and no token of the user answers from now on (on other instances within 5 s). Files and rows are purged ' +
      'later, and then the user is not found.',
    tag: 'users',
    responses: { 202: 'The user is deleted, and will be purged.' },
  }),
}
