import { CAPACITY_STATES, capacityFigures } from '../../../core/quota/capacity.ts'
import type { Account } from '../../../core/ledger/ledger.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { isUserId, parseUserId, parseUserIdPrefix } from '../../../core/users/user-id.ts'
import type { Users } from '../../../core/users/users.ts'
import { Bytes, Count, NextCursor, OneOf, Time } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { audit } from '../audit.ts'
import { cursorFault, NoQuery, pageOf, PageQuery, parsePage } from '../pagination.ts'
import { USERS } from './users.openapi.ts'

export interface UserRoutesOptions {
  readonly users: Users
}

const Params = Type.Object({ user_id: Type.String() })

const Nothing = Type.Object({}, { additionalProperties: false })

const ListQuery = Type.Object(
  { ...PageQuery.properties, prefix: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

const Patch = Type.Object(
  {
    status: Type.Unsafe<'active' | 'suspended'>({ type: 'string', enum: ['active', 'suspended'] }),
  },
  { additionalProperties: false },
)

const AccountReply = Type.Object(
  {
    user_id: Type.String({ description: 'Names the user for ever.' }),
    status: OneOf(
      ['active', 'suspended', 'deleted'],
      '`deleted` until all that the user had is purged.',
    ),
    created_at: Time('When the user was made.'),
    capacity: Type.Object({
      capacity: Bytes('Bytes that all files may have together.'),
      used: Bytes('Bytes of the files.'),
      reserved: Bytes('Bytes that uploads under way have reserved.'),
      available: Bytes('Bytes that are left.'),
      file_count: Count('How many files there are.'),
      state: OneOf(
        CAPACITY_STATES,
        '`nearing` from 90 % of the capacity, `critical` from 99 %, `exceeded` above it.',
      ),
    }),
  },
  { title: 'User' },
)

const PageReply = Type.Object(
  { users: Type.Array(AccountReply), next_cursor: NextCursor },
  { title: 'UserPage' },
)

const replies = { 200: AccountReply, 201: AccountReply }

/** `/admin/users`: makes, shows, lists, suspends and deletes users. */
export const userRoutes: FastifyPluginAsyncTypebox<UserRoutesOptions> = async (app, { users }) => {
  const collection = '/admin/users'
  const one = '/admin/users/:user_id'
  const make = { body: Nothing, querystring: NoQuery, response: replies }

  app.post(collection, { schema: make, config: USERS.make }, async (request, reply) => {
    const { account } = await users.create(undefined)
    audit(request, { action: 'user.create', user_id: account.user.userId })
    return reply.code(201).send(toReply(account))
  })

  app.put(
    one,
    { schema: { ...make, params: Params }, config: USERS.put },
    async (request, reply) => {
      const { account, created } = await users.create(parseUserId(request.params.user_id))
      if (created) audit(request, { action: 'user.create', user_id: account.user.userId })
      return reply.code(created ? 201 : 200).send(toReply(account))
    },
  )

  const list = { querystring: ListQuery, response: { 200: PageReply } }
  app.get(collection, { schema: list, config: USERS.list }, async ({ query }) => {
    const { limit, after } = parsePage(query, 1)
    const [userId] = after ?? []
    if (userId !== undefined && !isUserId(userId)) throw cursorFault()
    const prefix = parseUserIdPrefix(query.prefix ?? '')
    const found = await users.list({ prefix, after: userId, limit: limit + 1 })
    const { page, next_cursor } = pageOf(found, { limit, keyOf: ({ user }) => [user.userId] })
    return { users: page.map(toReply), next_cursor }
  })

  const show = { params: Params, querystring: NoQuery, response: { 200: AccountReply } }
  app.get(one, { schema: show, config: USERS.show }, async ({ params }) =>
    toReply(await users.find(parseUserId(params.user_id))),
  )

  app.patch(one, { schema: { ...show, body: Patch }, config: USERS.patch }, async (request) => {
    const userId = parseUserId(request.params.user_id)
    const { status } = request.body
    const account = await users.setStatus(userId, status)
    audit(request, { action: 'user.set_status', user_id: userId, status })
    return toReply(account)
  })

  const remove = { params: Params, querystring: NoQuery }
  app.delete(one, { schema: remove, config: USERS.remove }, async (request, reply) => {
    const userId = parseUserId(request.params.user_id)
    await users.remove(userId)
    audit(request, { action: 'user.delete', user_id: userId })
    return reply.code(202).send()
  })
}

function toReply({ user, usage }: Account) {
  return {
    user_id: user.userId,
    status: user.status,
    created_at: formatTimestamp(user.createdAt),
    capacity: capacityFigures(usage),
  }
}
