import { invalidParameter } from '../../../core/errors.ts'
import { accountJson } from '../../../core/users/account-json.ts'
import type { Users } from '../../../core/users/users.ts'
import { isUserId, parseUserId, parseUserIdPrefix } from '../../../core/users/user-id.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage, textsOf } from '../../shared-routes/pagination.ts'
import type { Audited } from '../audit.ts'
import { USERS } from './users.openapi.ts'

interface UserOptions extends Audited {
  readonly users: Users
}

export const userRoutes: FastifyPluginAsyncTypebox<UserOptions> = async (app, { users, audit }) => {
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

  app.get(collection, USERS.list, async (request) => {
    const { query } = request
    const { order = 'user_id', prefix = '' } = query
    const { entries, next_cursor } =
      order === 'user_id'
        ? await readPage(query, {
            read: (key) => textsOf(key, 1)?.find(isUserId),
            list: (page) => users.list({ prefix: parseUserIdPrefix(prefix), ...page }),
            keyOf: ({ user }) => [user.userId],
          })
        : await readPage(query, {
            read: creationIn,
            list: (page) => users.list({ order: withoutPrefix(order, prefix), ...page }),
            keyOf: ({ user }) => [user.createdAt, user.userId],
          })
    return { users: entries.map(accountJson), next_cursor }
  })

  app.get(one, USERS.show, async (request) => accountJson(await users.find(request.params.user_id)))

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

/** Users with a prefix can be anywhere in an order by creation. */
function withoutPrefix<Order>(order: Order, prefix: string): Order {
  if (prefix === '') return order
  throw invalidParameter('order', 'With a prefix, users are listed by id only.')
}

function creationIn([createdAt, userId, another]: Key) {
  const isPlace = typeof createdAt === 'number' && isUserId(String(userId)) && another === undefined
  return isPlace ? { createdAt, userId: parseUserId(String(userId)) } : undefined
}
