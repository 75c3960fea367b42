import { SOURCE_PATTERN } from '../../../core/quota/grants.ts'
import { formatTimestamp, parseTimestamp } from '../../../core/timestamp.ts'
import type { Grant, GrantName } from '../../../core/quota/grant-store.ts'
import { Bytes, grantReply, Page, Text, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { type Key, PAGE_QUERY, readPage, textsOf } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { describingUser, REFERENCE, USER_PARAM } from '../route-schemas.ts'

export const grantRoutes: OperatorPlugin = async (app, { useCases: { grants }, audit }) => {
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

const OfGrant = Type.Object({
  user_id: USER_PARAM,
  source: Type.String({
    pattern: SOURCE_PATTERN,
    description:
      'The origin of the grant: 1 to 32 characters from `a-z 0-9 _ -`, starting with a letter, and not `base` or ' +
      '`device`.',
    examples: ['promotion'],
  }),
  reference: Type.String({
    ...REFERENCE,
    description:
      'Unique among the grants of this source: 1 to 128 characters from `A-Z a-z 0-9 . _ : @ -`.',
    examples: ['spring-2027'],
  }),
})

const Terms = Type.Object(
  {
    bytes: Bytes('Bytes that the grant adds to the capacity while it is in force.', 2_147_483_648),
    starts_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the grant comes into force. By default, immediately.',
      }),
    ),
    ends_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When the grant ends, later than `starts_at`. By default, the grant does not end.',
        examples: ['2027-07-01T00:00:00Z'],
      }),
    ),
  },
  { title: 'GrantTerms', additionalProperties: false },
)

const Grant = Type.Object(
  {
    source: Text('The origin of the grant: `device` or another one.', 'promotion'),
    reference: Text('Unique among the grants of this source.', 'spring-2027'),
    bytes: Bytes('Bytes that the grant adds to the capacity while it is in force.', 2_147_483_648),
    model: Type.Optional(Text('The model of the device.')),
    starts_at: TimeOrNull('When the grant comes into force.'),
    ends_at: TimeOrNull('When the grant ends.', '2027-07-01T00:00:00.000Z'),
    created_at: Time('When the grant was created.'),
  },
  { title: 'Grant' },
)

const GrantPage = Page('GrantPage', { grants: Type.Array(Grant) })

const ofUser = describingUser({ tag: 'grants', problems: ['not_found'] })

const GRANTS = {
  put: ofUser({
    operationId: 'putGrant',
    summary: 'Grant capacity',
    description: 'Repeated requests count once. The terms of the last request apply.',
    params: OfGrant,
    body: Terms,
    response: { 200: Grant, 201: Grant },
    responses: {
      200: 'The grant already existed. The new terms apply.',
      201: 'The grant was created.',
    },
  }),
  revoke: ofUser({
    operationId: 'revokeGrant',
    summary: 'Revoke a grant, which reduces the capacity but deletes no files',
    params: OfGrant,
    responses: { 204: 'The grant was revoked, or did not exist.' },
  }),
  list: ofUser({
    operationId: 'listGrants',
    summary: "List a user's grants, including devices",
    querystring: PAGE_QUERY,
    response: { 200: GrantPage },
    responses: { 200: 'One page of grants.' },
  }),
}
