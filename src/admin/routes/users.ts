import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { availableBytes, capacityState } from '../../core/capacity.ts'
import type { Account } from '../../core/ledger.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { isUserId, parseUserId } from '../../core/user-id.ts'
import type { Users } from '../../core/users.ts'
import { audit } from '../audit.ts'
import { cursorFault, NextCursor, NoQuery, pageOf, PageQuery, parsePage } from '../page.ts'

export interface UserRoutesOptions {
  readonly users: Users
}

const Params = Type.Object({ user_id: Type.String() })

const Nothing = Type.Object({}, { additionalProperties: false })

const Patch = Type.Object(
  {
    status: Type.Unsafe<'active' | 'suspended'>({ type: 'string', enum: ['active', 'suspended'] }),
  },
  { additionalProperties: false },
)

const AccountReply = Type.Object({
  user_id: Type.String(),
  status: Type.String(),
  created_at: Type.String(),
  capacity: Type.Object({
    capacity: Type.Integer(),
    used: Type.Integer(),
    reserved: Type.Integer(),
    available: Type.Integer(),
    file_count: Type.Integer(),
    state: Type.String(),
  }),
})

const PageReply = Type.Object({ users: Type.Array(AccountReply), next_cursor: NextCursor })

const replies = { 200: AccountReply, 201: AccountReply }

/** `/admin/users`: makes, shows, lists, suspends and deletes users. */
export const userRoutes: FastifyPluginAsyncTypebox<UserRoutesOptions> = async (app, { users }) => {
  const collection = '/admin/users'
  const one = '/admin/users/:user_id'
  const make = { body: Nothing, querystring: NoQuery, response: replies }

  app.post(collection, { schema: make }, async (request, reply) => {
    const { account } = await users.create(undefined)
    audit(request, { action: 'user.create', user_id: account.user.userId })
    return reply.code(201).send(toReply(account))
  })

  app.put(one, { schema: { ...make, params: Params } }, async (request, reply) => {
    const { account, created } = await users.create(parseUserId(request.params.user_id))
    if (created) audit(request, { action: 'user.create', user_id: account.user.userId })
    return reply.code(created ? 201 : 200).send(toReply(account))
  })

  const list = { querystring: PageQuery, response: { 200: PageReply } }
  app.get(collection, { schema: list }, async ({ query }) => {
    const { limit, after } = parsePage(query, 1)
    const [userId] = after ?? []
    if (userId !== undefined && !isUserId(userId)) throw cursorFault()
    const found = await users.list({ after: userId, limit: limit + 1 })
    const { page, next_cursor } = pageOf(found, { limit, keyOf: ({ user }) => [user.userId] })
    return { users: page.map(toReply), next_cursor }
  })

  const show = { params: Params, querystring: NoQuery, response: { 200: AccountReply } }
  app.get(one, { schema: show }, async ({ params }) =>
    toReply(await users.find(parseUserId(params.user_id))),
  )

  app.patch(one, { schema: { ...show, body: Patch } }, async (request) => {
    const userId = parseUserId(request.params.user_id)
    const { status } = request.body
    const account = await users.setStatus(userId, status)
    audit(request, { action: 'user.set_status', user_id: userId, status })
    return toReply(account)
  })

  const remove = { params: Params, querystring: NoQuery }
  app.delete(one, { schema: remove }, async (request, reply) => {
    const userId = parseUserId(request.params.user_id)
    await users.remove(userId)
    audit(request, { action: 'user.delete', user_id: userId })
    return reply.code(202).send()
  })
}

function toReply({ user, usage }: Account) {
  const { capacity, used, reserved, fileCount } = usage
  return {
    user_id: user.userId,
    status: user.status,
    created_at: formatTimestamp(user.createdAt),
    capacity: {
      capacity,
      used,
      reserved,
      available: availableBytes(usage),
      file_count: fileCount,
      state: capacityState(usage),
    },
  }
}
