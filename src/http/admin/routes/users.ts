import { deviceUsageJson } from '../../../core/quota/device-usage.ts'
import { accountJson } from '../../../core/users/account-json.ts'
import { described } from '../../openapi/operation.ts'
import { OneOf, Text, Time, USAGE } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { DeviceUsageReply } from '../../routes/device-usage.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { describingUser, NO_QUERY } from '../route-schemas.ts'

export const userRoutes: OperatorPlugin = async (app, { useCases: { users }, audit }) => {
  const collection = '/admin/users'
  const one = '/admin/users/:user_id'

  app.post(collection, USERS.make, async (request, reply) => {
    const { userId } = await users.create(undefined)
    await audit(request, { action: 'user.create', user_id: userId })
    const account = await users.find(userId)
    return reply.code(201).send(accountJson(account))
  })

  app.put(one, USERS.put, async (request, reply) => {
    const { userId, created } = await users.create(request.params.user_id)
    if (created) await audit(request, { action: 'user.create', user_id: userId })
    const account = await users.find(userId)
    return reply.code(created ? 201 : 200).send(accountJson(account))
  })

  app.get(one, USERS.show, async (request) => {
    const { user_id } = request.params
    const account = await users.find(user_id)
    const devices = await users.listDeviceUsage(user_id)
    return { ...accountJson(account), devices: devices.map(deviceUsageJson) }
  })

  app.patch(one, USERS.patch, async (request) => {
    const { user_id } = request.params
    const { status } = request.body
    await users.setStatus(user_id, status)
    await audit(request, { action: 'user.set_status', user_id, status })
    return accountJson(await users.find(user_id))
  })

  app.delete(one, USERS.remove, async (request, reply) => {
    const { user_id } = request.params
    await users.remove(user_id)
    await audit(request, { action: 'user.delete', user_id })
    return reply.code(202).send()
  })
}

export const USER_MEMBERS = {
  user_id: Text('The id of the user, which never changes.', 'alice'),
  status: OneOf(
    ['active', 'suspended', 'deleted'],
    'A deleted user has the status `deleted` until all their data is purged.',
  ),
  created_at: Time('When the user was created.'),
  capacity: Type.Object(USAGE),
}

export const User = Type.Object(USER_MEMBERS, { title: 'User' })

const UserDetails = Type.Object(
  {
    ...USER_MEMBERS,
    devices: Type.Array(DeviceUsageReply, { description: 'What the files of each device take.' }),
  },
  { title: 'UserDetails', description: 'A user with their devices.' },
)

const Nothing = Type.Object({}, { additionalProperties: false, examples: [{}] })

const Status = Type.Object(
  {
    status: Type.Unsafe<'active' | 'suspended'>({ type: 'string', enum: ['active', 'suspended'] }),
  },
  { additionalProperties: false, examples: [{ status: 'suspended' }] },
)

const ofUser = describingUser({ tag: 'users', problems: ['not_found'] })

const USERS = {
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
  show: ofUser({
    operationId: 'getUser',
    summary: 'Get a user',
    response: { 200: UserDetails },
    responses: { 200: 'The user.' },
  }),
  patch: ofUser({
    operationId: 'setUserStatus',
    role: 'support',
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
