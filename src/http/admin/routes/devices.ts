import type { Grants } from '../../../core/quota/grants.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { parseUserId } from '../../../core/users/user-id.ts'
import type { Grant } from '../../../core/users/user-store.ts'
import { Bytes, NextCursor, Time } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { audit } from '../audit.ts'
import { NoQuery, pageOf, PageQuery, parsePage } from '../pagination.ts'
import { DEVICES } from './devices.openapi.ts'

export interface DeviceRoutesOptions {
  readonly grants: Grants
}

const OfUser = Type.Object({ user_id: Type.String() })

const OfDevice = Type.Object({ user_id: Type.String(), device_id: Type.String() })

const Terms = Type.Object(
  { model: Type.Optional(Type.String()), bytes: Type.Optional(Type.Number()) },
  { additionalProperties: false },
)

const DeviceReply = Type.Object(
  {
    device_id: Type.String({ description: 'Unique among those of its user.' }),
    model: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'If it is known.' }),
    bytes: Bytes('What it adds to the capacity.'),
    created_at: Time('When it joined.'),
  },
  { title: 'Device' },
)

const PageReply = Type.Object(
  { devices: Type.Array(DeviceReply), next_cursor: NextCursor },
  { title: 'DevicePage' },
)

/** `/admin/users/{user_id}/devices`: a device joins, leaves, or is listed; each is a grant. */
export const deviceRoutes: FastifyPluginAsyncTypebox<DeviceRoutesOptions> = async (
  app,
  options,
) => {
  const { grants } = options
  const collection = '/admin/users/:user_id/devices'
  const one = `${collection}/:device_id`
  const ofDevice = { params: OfDevice, querystring: NoQuery }

  const join = { ...ofDevice, body: Terms, response: { 200: DeviceReply, 201: DeviceReply } }
  app.put(one, { schema: join, config: DEVICES.join }, async (request, reply) => {
    const { user_id, device_id } = request.params
    const { model, bytes } = request.body
    const device = { userId: parseUserId(user_id), deviceId: device_id, model, bytes }
    const { grant, created } = await grants.putDevice(device)
    const terms = { model, bytes: grant.bytes, created }
    audit(request, { action: 'device.put', user_id, device_id, ...terms })
    return reply.code(created ? 201 : 200).send(toReply(grant))
  })

  app.delete(one, { schema: ofDevice, config: DEVICES.leave }, async (request, reply) => {
    const { user_id, device_id } = request.params
    await grants.removeDevice({ userId: parseUserId(user_id), deviceId: device_id })
    audit(request, { action: 'device.remove', user_id, device_id })
    return reply.code(204).send()
  })

  const list = { params: OfUser, querystring: PageQuery, response: { 200: PageReply } }
  app.get(collection, { schema: list, config: DEVICES.list }, async ({ params, query }) => {
    const { limit, after } = parsePage(query, 1)
    const [reference] = after ?? []
    const found = await grants.listDevices(parseUserId(params.user_id), {
      after: reference === undefined ? undefined : { source: 'device', reference },
      limit: limit + 1,
    })
    const { page, next_cursor } = pageOf(found, { limit, keyOf: (grant) => [grant.reference] })
    return { devices: page.map(toReply), next_cursor }
  })
}

function toReply({ reference, model, bytes, createdAt }: Grant) {
  return {
    device_id: reference,
    model: model ?? null,
    bytes,
    created_at: formatTimestamp(createdAt),
  }
}
