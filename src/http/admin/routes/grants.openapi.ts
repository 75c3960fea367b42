import { SOURCE_PATTERN } from '../../../core/quota/grants.ts'
import { described } from '../../openapi/operation.ts'
import { Bytes, NextCursor, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readLimit } from '../../shared-routes/pagination.ts'
import { NO_QUERY, OF_USER, REFERENCE } from '../api.ts'

const OfGrant = {
  params: Type.Object({
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
  }),
  querystring: NO_QUERY,
} as const

const TIME = { type: 'string', format: 'date-time' } as const

const Terms = Type.Object(
  {
    bytes: Bytes('What it adds to the capacity while it is in force.'),
    starts_at: Type.Optional(
      Type.String({ ...TIME, description: 'When it comes into force; at once without.' }),
    ),
    ends_at: Type.Optional(
      Type.String({ ...TIME, description: 'When it ends, after `starts_at`; never without.' }),
    ),
  },
  {
    title: 'GrantTerms',
    additionalProperties: false,
    examples: [{ bytes: 2_147_483_648, ends_at: '2027-07-01T00:00:00Z' }],
  },
)

const Grant = Type.Object(
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

const GrantPage = Type.Object(
  { grants: Type.Array(Grant), next_cursor: NextCursor },
  { title: 'GrantPage' },
)

const EXAMPLE = {
  source: 'promotion',
  reference: 'spring-2027',
  bytes: 2_147_483_648,
  starts_at: null,
  ends_at: '2027-07-01T00:00:00.000Z',
  created_at: '2026-11-21T12:00:00.000Z',
} as const

const every = { tag: 'grants', problems: ['not_found'] } as const

/** The options of each route: what it takes and answers, and what the OpenAPI document says besides. */
export const GRANTS = {
  put: described(
    { ...OfGrant, body: Terms, response: { 200: Grant, 201: Grant } },
    {
      ...every,
      operationId: 'putGrant',
      summary: 'Grant capacity',
      description: 'Repeating it counts once; the last terms count.',
      responses: {
        200: { description: 'It was there already and has these terms now.', example: EXAMPLE },
        201: { description: 'It is granted.', example: EXAMPLE },
      },
    },
  ),
  revoke: described(OfGrant, {
    ...every,
    operationId: 'revokeGrant',
    summary: 'Revoke a grant, which shrinks the capacity and deletes nothing',
    responses: { 204: { description: 'It is not there, or not any more.' } },
  }),
  list: {
    preValidation: readLimit,
    ...described(
      { ...OF_USER, querystring: PAGE_QUERY, response: { 200: GrantPage } },
      {
        ...every,
        operationId: 'listGrants',
        summary: "List a user's grants, the devices among them",
        responses: {
          200: {
            description: 'A page of grants.',
            example: { grants: [EXAMPLE], next_cursor: null },
          },
        },
      },
    ),
  },
}
