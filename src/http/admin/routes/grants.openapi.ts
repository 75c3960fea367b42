import { SOURCE_PATTERN } from '../../../core/quota/grants.ts'
import { described } from '../../openapi/operation.ts'
import { Bytes, Page, Text, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { OF_USER, REFERENCE } from '../api.ts'

const OfGrant = Type.Object({
  ...OF_USER.params.properties,
  source: Type.String({
    pattern: SOURCE_PATTERN,
    description:
      'Where the grant came from: 1 to 32 of `a-z 0-9 _ -`, a letter first, not `base` or `device`.',
    examples: ['promotion'],
  }),
  reference: Type.String({
    ...REFERENCE,
    description: 'Unique among the grants of that source: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`.',
    examples: ['spring-2027'],
  }),
})

const Terms = Type.Object(
  {
    bytes: Bytes('What it adds to the capacity while it is in force.', 2_147_483_648),
    starts_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When it comes into force; at once without.',
      }),
    ),
    ends_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When it ends, after `starts_at`; never without.',
        examples: ['2027-07-01T00:00:00Z'],
      }),
    ),
  },
  { title: 'GrantTerms', additionalProperties: false },
)

const Grant = Type.Object(
  {
    source: Text('`device`, or what else it came from.', 'promotion'),
    reference: Text('Unique among those of its source.', 'spring-2027'),
    bytes: Bytes('What it adds to the capacity while it is in force.', 2_147_483_648),
    model: Type.Optional(Text('Of the device.')),
    starts_at: TimeOrNull('When it comes into force.'),
    ends_at: TimeOrNull('When it ends.', '2027-07-01T00:00:00.000Z'),
    created_at: Time('When it was made.'),
  },
  { title: 'Grant' },
)

const GrantPage = Page('GrantPage', { grants: Type.Array(Grant) })

const every = { ...OF_USER, tag: 'grants', problems: ['not_found'] } as const

export const GRANTS = {
  put: described({
    ...every,
    operationId: 'putGrant',
    summary: 'Grant capacity',
    description: 'Repeating it counts once; the last terms count.',
    params: OfGrant,
    body: Terms,
    response: { 200: Grant, 201: Grant },
    responses: { 200: 'It was there already and has these terms now.', 201: 'It is granted.' },
  }),
  revoke: described({
    ...every,
    operationId: 'revokeGrant',
    summary: 'Revoke a grant, which shrinks the capacity and deletes nothing',
    params: OfGrant,
    responses: { 204: 'It is not there, or not any more.' },
  }),
  list: described({
    ...every,
    operationId: 'listGrants',
    summary: "List a user's grants, the devices among them",
    querystring: PAGE_QUERY,
    response: { 200: GrantPage },
    responses: { 200: 'A page of grants.' },
  }),
}
