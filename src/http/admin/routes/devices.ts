import { formatTimestamp } from '../../../core/timestamp.ts'
import type { Grants } from '../../../core/quota/grants.ts'
import type { Grant } from '../../../core/users/user-store.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { readPage, textsOf } from '../../shared-routes/pagination.ts'
import type { Audited } from '../audit.ts'
import { DEVICES } from './devices.openapi.ts'

export interface GrantOptions extends Audited {
  readonly grants: Grants
}

export const deviceRoutes: FastifyPluginAsyncTypebox<GrantOptions> = async (
  app,
  { grants, audit },
) => {
  const collection = '/admin/users/:user_id/devices'
  const one = `${collection}/:device_id`

  app.put(one, DEVICES.join, async (request, reply) => {
    const { user_id, device_id } = request.params
    const { model, bytes } = request.body
    const device = { userId: user_id, deviceId: device_id, model, bytes }
    const { grant, created } = await grants.putDevice(device)
    const terms = { device_id, model: grant.model, bytes: grant.bytes, created }
    await audit(request, { action: 'device.put', user_id, ...terms })
    return reply.code(created ? 201 : 200).send(toReply(grant))
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

function toReply({ reference, model, bytes, createdAt }: Grant) {
  return {
    device_id: reference,
    model: model ?? null,
    bytes,
    created_at: formatTimestamp(createdAt),
  }
}
