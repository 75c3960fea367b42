import type { Grants } from '../../../core/quota/grants.ts'
import { formatTimestamp, parseTimestamp } from '../../../core/timestamp.ts'
import { parseUserId } from '../../../core/users/user-id.ts'
import type { Grant } from '../../../core/users/user-store.ts'
import { Bytes, NextCursor, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { audit } from '../audit.ts'
import { NoQuery, pageOf, PageQuery, parsePage } from '../pagination.ts'
import { GRANTS } from './grants.openapi.ts'

export interface GrantRoutesOptions {
  readonly grants: Grants
}

const OfUser = Type.Object({ user_id: Type.String() })

const OfGrant = Type.Object({
  user_id: Type.String(),
  source: Type.String(),
  reference: Type.String(),
})

const Terms = Type.Object(
  {
    bytes: Type.Number(),
    starts_at: Type.Optional(Type.String()),
    ends_at: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

const GrantReply = Type.Object(
  {
    source: Type.String({ description: '`device`, or what else it came from.' }),
    reference: Type.String({ description: 'Unique among those of its source.' }),
    bytes: Bytes('What it adds to the capacity while it is in force.'),
    model: Type.Optional(Type.String({ description: 'Of the device.' })),
    starts_at: TimeOrNull('When it comes into force.'),
    ends_at: TimeOrNull('When it ends.'),
    created_at: Time('When it was made.'),
  },
  { title: 'Grant' },
)

const PageReply = Type.Object(
  { grants: Type.Array(GrantReply), next_cursor: NextCursor },
  { title: 'GrantPage' },
)

/** `/admin/users/{user_id}/grants`: any other reason for capacity; the list has the devices too. */
export const grantRoutes: FastifyPluginAsyncTypebox<GrantRoutesOptions> = async (app, options) => {
  const { grants } = options
  const collection = '/admin/users/:user_id/grants'
  const one = `${collection}/:source/:reference`
  const ofGrant = { params: OfGrant, querystring: NoQuery }

  const put = { ...ofGrant, body: Terms, response: { 200: GrantReply, 201: GrantReply } }
  app.put(one, { schema: put, config: GRANTS.put }, async (request, reply) => {
    const { user_id, source, reference } = request.params
    const { bytes, starts_at, ends_at } = request.body
    const { grant, created } = await grants.putGrant({
      userId: parseUserId(user_id),
      source,
      reference,
      bytes,
      startsAt: starts_at === undefined ? undefined : parseTimestamp(starts_at, 'starts_at'),
      endsAt: ends_at === undefined ? undefined : parseTimestamp(ends_at, 'ends_at'),
    })
    const terms = { bytes, starts_at, ends_at, created }
    audit(request, { action: 'grant.put', user_id, source, reference, ...terms })
    return reply.code(created ? 201 : 200).send(toReply(grant))
  })

  app.delete(one, { schema: ofGrant, config: GRANTS.revoke }, async (request, reply) => {
    const { user_id, source, reference } = request.params
    await grants.revokeGrant({ userId: parseUserId(user_id), source, reference })
    audit(request, { action: 'grant.revoke', user_id, source, reference })
    return reply.code(204).send()
  })

  const list = { params: OfUser, querystring: PageQuery, response: { 200: PageReply } }
  app.get(collection, { schema: list, config: GRANTS.list }, async ({ params, query }) => {
    const { limit, after } = parsePage(query, 2)
    const [source = '', reference = ''] = after ?? []
    const found = await grants.listGrants(parseUserId(params.user_id), {
      after: after === undefined ? undefined : { source, reference },
      limit: limit + 1,
    })
    const keyOf = (grant: Grant) => [grant.source, grant.reference]
    const { page, next_cursor } = pageOf(found, { limit, keyOf })
    return { grants: page.map(toReply), next_cursor }
  })
}

function toReply({ source, reference, bytes, model, startsAt, endsAt, createdAt }: Grant) {
  return {
    source,
    reference,
    bytes,
    ...(model === undefined ? {} : { model }),
    starts_at: formatTimestamp(startsAt),
    ends_at: formatTimestamp(endsAt),
    created_at: formatTimestamp(createdAt),
  }
}
