import { SOURCE_PATTERN } from '../../../core/quota/grants.ts'
import { Bytes, Page, Text, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { describingUser, REFERENCE, USER_PARAM } from '../route-schemas.ts'

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

export const GRANTS = {
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
