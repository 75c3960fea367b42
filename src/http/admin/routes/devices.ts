import { LABEL_PATTERN, MAX_LABEL_LENGTH } from '../../../core/auth/terms.ts'
import { MODEL_PATTERN } from '../../../core/quota/grants.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import type { DeviceShare } from '../../../core/quota/device-share.ts'
import type { Grant } from '../../../core/quota/grant-store.ts'
import { Bytes, Page, SHARES, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { DEVICE_MEMBERS } from '../../routes/device-usage.ts'
import { PAGE_QUERY, readPage, textsOf } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { describingUser, REFERENCE, USER_PARAM } from '../route-schemas.ts'

export const deviceRoutes: OperatorPlugin = async (app, { useCases: { grants }, audit }) => {
  const collection = '/admin/users/:user_id/devices'
  const one = `${collection}/:device_id`

  app.put(one, DEVICES.join, async (request, reply) => {
    const { user_id, device_id } = request.params
    const { model, bytes, label, share } = request.body
    const { grant, created } = await grants.putDevice({
      userId: user_id,
      deviceId: device_id,
      model,
      bytes,
      label: label ?? undefined,
      share,
    })
    const answer = toReply(grant)
    await audit(request, {
      action: 'device.put',
      user_id,
      device_id,
      model: grant.model,
      bytes: grant.bytes,
      label: grant.label,
      share: answer.share,
      created,
    })
    return reply.code(created ? 201 : 200).send(answer)
  })

  app.delete(one, DEVICES.leave, async (request, reply) => {
    const { user_id, device_id } = request.params
    await grants.removeDevice({ userId: user_id, deviceId: device_id })
    await audit(request, { action: 'device.remove', user_id, device_id })
    return reply.code(204).send()
  })

  app.get(collection, DEVICES.list, async (request) => {
    const { entries, next_cursor } = await readPage(request.query, {
      read: (key) => textsOf(key, 1)?.map((reference) => ({ source: 'device', reference }))[0],
      list: (page) => grants.listDevices(request.params.user_id, page),
      keyOf: ({ reference }) => [reference],
    })
    return { devices: entries.map(toReply), next_cursor }
  })
}

function toReply({ reference, label, model, bytes, share = 'all', createdAt }: Grant) {
  return {
    device_id: reference,
    label: label ?? null,
    model: model ?? null,
    bytes,
    share,
    created_at: formatTimestamp(createdAt),
  }
}

const OfDevice = Type.Object({
  user_id: USER_PARAM,
  device_id: Type.String({
    ...REFERENCE,
    description: 'The device id: 1 to 128 characters from `A-Z a-z 0-9 . _ : @ -`.',
    examples: ['camera-17'],
  }),
})

const Terms = Type.Object(
  {
    model: Type.Optional(
      Type.String({
        pattern: MODEL_PATTERN,
        description:
          'The model of the device: 1 to 128 printable ASCII characters. If `DEVICE_MODELS` is set, one of its models.',
        examples: ['camera-2'],
      }),
    ),
    bytes: Type.Optional(
      Bytes(
        'Bytes that the device adds to the capacity. The default is configured per model, or for all devices.',
      ),
    ),
    label: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        maxLength: MAX_LABEL_LENGTH,
        pattern: LABEL_PATTERN,
        description: `The name that people know the device by: at most ${MAX_LABEL_LENGTH} characters, without control characters.`,
        examples: ['Front door'],
      }),
    ),
    share: Type.Optional(
      Type.Unsafe<DeviceShare>({
        anyOf: SHARES,
        description:
          'How much of the account the files of the device may take: `all`; `own`, which is what the device adds; or a ' +
          'number of bytes. By default, `DEVICE_SHARE`.',
        examples: ['own'],
      }),
    ),
  },
  { title: 'DeviceTerms', additionalProperties: false },
)

const Device = Type.Object(
  {
    ...DEVICE_MEMBERS,
    created_at: Time('When the device was added.'),
  },
  { title: 'Device' },
)

const DevicePage = Page('DevicePage', { devices: Type.Array(Device) })

const ofUser = describingUser({ tag: 'devices', problems: ['not_found'] })

const DEVICES = {
  join: ofUser({
    operationId: 'putDevice',
    summary: 'Add a device, which increases the capacity',
    description:
      'Repeated requests count once. The terms of the last request apply; what it leaves out gets its default.',
    params: OfDevice,
    body: Terms,
    response: { 200: Device, 201: Device },
    responses: {
      200: 'The device already existed. The new terms apply.',
      201: 'The device was added.',
    },
  }),
  leave: ofUser({
    operationId: 'deleteDevice',
    summary: 'Remove a device, which reduces the capacity but deletes no files',
    params: OfDevice,
    responses: { 204: 'The device was removed, or did not exist.' },
  }),
  list: ofUser({
    operationId: 'listDevices',
    summary: "List a user's devices",
    querystring: PAGE_QUERY,
    response: { 200: DevicePage },
    responses: { 200: 'One page of devices.' },
  }),
}
