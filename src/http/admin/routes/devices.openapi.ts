import { MODEL_PATTERN } from '../../../core/quota/grants.ts'
import { described } from '../../openapi/operation.ts'
import { Bytes, NextCursor, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readLimit } from '../../shared-routes/pagination.ts'
import { NO_QUERY, OF_USER, REFERENCE } from '../api.ts'

const OfDevice = {
  params: Type.Object({
    ...OF_USER.params.properties,
    device_id: Type.String({
      ...REFERENCE,
      description: 'The id of a device: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`.',
      examples: ['camera-17'],
    }),
  }),
  querystring: NO_QUERY,
} as const

const Terms = Type.Object(
  {
    model: Type.Optional(
      Type.String({ pattern: MODEL_PATTERN, description: '1 to 128 printable ASCII characters.' }),
    ),
    bytes: Type.Optional(
      Bytes('What it adds to the capacity; without, what its model or any device does.'),
    ),
  },
  { title: 'DeviceTerms', additionalProperties: false, examples: [{ model: 'camera-2' }] },
)

const Device = Type.Object(
  {
    device_id: Type.String({ description: 'Unique among those of its user.' }),
    model: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'If it is known.' }),
    bytes: Bytes('What it adds to the capacity.'),
    created_at: Time('When it joined.'),
  },
  { title: 'Device' },
)

const DevicePage = Type.Object(
  { devices: Type.Array(Device), next_cursor: NextCursor },
  { title: 'DevicePage' },
)

const EXAMPLE = {
  device_id: 'camera-17',
  model: 'camera-2',
  bytes: 5_368_709_120,
  created_at: '2026-11-21T12:00:00.000Z',
} as const

const every = { tag: 'devices', problems: ['not_found'] } as const

/** The options of each route: what it takes and answers, and what the OpenAPI document says besides. */
export const DEVICES = {
  join: described(
    { ...OfDevice, body: Terms, response: { 200: Device, 201: Device } },
    {
      ...every,
      operationId: 'putDevice',
      summary: 'Let a device join, which grows the capacity',
      description: 'Repeating it counts once; the last terms count.',
      responses: {
        200: { description: 'It was there already and has these terms now.', example: EXAMPLE },
        201: { description: 'It has joined.', example: EXAMPLE },
      },
    },
  ),
  leave: described(OfDevice, {
    ...every,
    operationId: 'deleteDevice',
    summary: 'Let a device leave, which shrinks the capacity and deletes nothing',
    responses: { 204: { description: 'It is not there, or not any more.' } },
  }),
  list: {
    preValidation: readLimit,
    ...described(
      { ...OF_USER, querystring: PAGE_QUERY, response: { 200: DevicePage } },
      {
        ...every,
        operationId: 'listDevices',
        summary: "List a user's devices",
        responses: {
          200: {
            description: 'A page of devices.',
            example: { devices: [EXAMPLE], next_cursor: null },
          },
        },
      },
    ),
  },
}
