import { formatTimestamp, parseTimestamp } from '../../../core/timestamp.ts'
import type { Grant, GrantName } from '../../../core/users/user-store.ts'
import { grantReply } from '../../openapi/reply-schemas.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage, textsOf } from '../../shared-routes/pagination.ts'
import type { GrantOptions } from './devices.ts'
import { GRANTS } from './grants.openapi.ts'

export const grantRoutes: FastifyPluginAsyncTypebox<GrantOptions> = async (
  app,
  { grants, audit },
) => {
  const collection = '/admin/users/:user_id/grants'
  const one = `${collection}/:source/:reference`

  app.put(one, GRANTS.put, async (request, reply) => {
    const { user_id, source, reference } = request.params
    const { bytes, starts_at, ends_at } = request.body
    const { grant, created } = await grants.putGrant({
      userId: user_id,
      source,
      reference,
      bytes,
      startsAt: starts_at === undefined ? undefined : parseTimestamp(starts_at, 'starts_at'),
      endsAt: ends_at === undefined ? undefined : parseTimestamp(ends_at, 'ends_at'),
    })
    const answer = toReply(grant)
    await audit(request, {
      action: 'grant.put',
      user_id,
      source,
      reference,
      bytes,
      starts_at: answer.starts_at,
      ends_at: answer.ends_at,
      created,
    })
    return reply.code(created ? 201 : 200).send(answer)
  })

  app.delete(one, GRANTS.revoke, async (request, reply) => {
    const { user_id, source, reference } = request.params
    await grants.revokeGrant({ userId: user_id, source, reference })
    await audit(request, { action: 'grant.revoke', user_id, source, reference })
    return reply.code(204).send()
  })

  app.get(collection, GRANTS.list, async (request) => {
    const { entries, next_cursor } = await readPage(request.query, {
      read: placeOf,
      list: (page) => grants.listGrants(request.params.user_id, page),
      keyOf: ({ source, reference }) => [source, reference],
    })
    return { grants: entries.map(toReply), next_cursor }
  })
}

function placeOf(key: Key): GrantName | undefined {
  const [source = '', reference = ''] = textsOf(key, 2) ?? []
  return source === '' ? undefined : { source, reference }
}

function toReply(grant: Grant) {
  return { ...grantReply(grant), created_at: formatTimestamp(grant.createdAt) }
}
