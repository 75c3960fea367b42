import { MODEL_PATTERN } from '../../../core/quota/grants.ts'
import { described } from '../../openapi/operation.ts'
import { Bytes, Page, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY } from '../../shared-routes/pagination.ts'
import { OF_USER, REFERENCE } from '../api.ts'

const OfDevice = Type.Object({
  ...OF_USER.params.properties,
  device_id: Type.String({
    ...REFERENCE,
    description: 'The id of a device: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`.',
    examples: ['camera-17'],
  }),
})

const Terms = Type.Object(
  {
    model: Type.Optional(
      Type.String({
        pattern: MODEL_PATTERN,
        description: '1 to 128 printable ASCII characters.',
        examples: ['camera-2'],
      }),
    ),
    bytes: Type.Optional(
      Bytes('What it adds to the capacity; without, what its model or any device does.'),
    ),
  },
  { title: 'DeviceTerms', additionalProperties: false },
)

const Device = Type.Object(
  {
    device_id: Text('Unique among those of its user.', 'camera-17'),
    model: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'If it is known.',
      examples: ['camera-2'],
    }),
    bytes: Bytes('What it adds to the capacity.', 5_368_709_120),
    created_at: Time('When it joined.'),
  },
  { title: 'Device' },
)

const DevicePage = Page('DevicePage', { devices: Type.Array(Device) })

const every = { ...OF_USER, tag: 'devices', problems: ['not_found'] } as const

export const DEVICES = {
  join: described({
    ...every,
    operationId: 'putDevice',
    summary: 'Let a device join, which grows the capacity',
    description: 'Repeating it counts once; the last terms count.',
    params: OfDevice,
    body: Terms,
    response: { 200: Device, 201: Device },
    responses: { 200: 'It was there already and has these terms now.', 201: 'It has joined.' },
  }),
  leave: described({
    ...every,
    operationId: 'deleteDevice',
    summary: 'Let a device leave, which shrinks the capacity and deletes nothing',
    params: OfDevice,
    responses: { 204: 'It is not there, or not any more.' },
  }),
  list: described({
    ...every,
    operationId: 'listDevices',
    summary: "List a user's devices",
    querystring: PAGE_QUERY,
    response: { 200: DevicePage },
    responses: { 200: 'A page of devices.' },
  }),
}
