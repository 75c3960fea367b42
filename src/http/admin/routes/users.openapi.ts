import { ACCOUNT_ORDERS } from '../../../core/users/account-ledger.ts'
import { USER_ID_PREFIX_PATTERN } from '../../../core/users/user-id.ts'
import { described } from '../../openapi/operation.ts'
import { OneOf, Page, Text, Time, USAGE } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { describingUser, NO_QUERY } from '../route-schemas.ts'

export const User = Type.Object(
  {
    user_id: Text('The id of the user, which never changes.', 'alice'),
    status: OneOf(
      ['active', 'suspended', 'deleted'],
      'A deleted user has the status `deleted` until all their data is purged.',
    ),
    created_at: Time('When the user was created.'),
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
          'The prefix of the user ids: at most 64 characters from `A-Z a-z 0-9 _ -`. Ids are compared byte by byte.',
        examples: ['ali'],
      }),
    ),
    order: Type.Optional(
      OneOf(
        ACCOUNT_ORDERS,
        'By id, or by the time of creation, with `-` the newest first. With a `prefix`, only by id.',
      ),
    ),
    ...PAGE_QUERY.properties,
  },
  { additionalProperties: false },
)

const UserPage = Page('UserPage', { users: Type.Array(User) })

const ofUser = describingUser({ tag: 'users', problems: ['not_found'] })

export const USERS = {
  make: described({
    operationId: 'createUser',
    summary: 'Create a user with a generated id',
    tag: 'users',
    querystring: NO_QUERY,
    body: Nothing,
    response: { 201: User },
    responses: { 201: 'The user was created.' },
  }),
  put: ofUser({
    operationId: 'putUser',
    summary: 'Create a user with this id unless the user already exists',
    body: Nothing,
    response: { 200: User, 201: User },
    responses: { 200: 'The user already existed.', 201: 'The user was created.' },
    problems: ['user_exists'],
  }),
  list: described({
    operationId: 'listUsers',
    summary: 'List users',
    tag: 'users',
    querystring: ListQuery,
    response: { 200: UserPage },
    responses: { 200: 'One page of users.' },
  }),
  show: ofUser({
    operationId: 'getUser',
    summary: 'Get a user',
    response: { 200: User },
    responses: { 200: 'The user.' },
  }),
  patch: ofUser({
    operationId: 'setUserStatus',
    summary: 'Suspend a user, or end the suspension',
    description:
      'The change applies to the next request on this instance, and within 5 s on other instances.',
    body: Status,
    response: { 200: User },
    responses: {
      200: { description: 'The user after the change.', example: { status: 'suspended' } },
    },
  }),
  remove: ofUser({
    operationId: 'deleteUser',
    summary: 'Delete a user and all files of the user',
    description:
      'The files and tokens stop working immediately (on other instances within 5 s). Files and rows are ' +
      'purged later. After that, the user no longer exists.',
    responses: { 202: 'The user is deleted. The data will be purged.' },
  }),
}
