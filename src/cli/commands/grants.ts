import { parseByteSize } from '../../core/byte-size.ts'
import { formatTimestamp, parseTimestamp } from '../../core/timestamp.ts'
import type { Grant } from '../../core/users/user-store.ts'
import { userIdOf, type Command } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const GRANTS: readonly Command[] = [
  {
    words: ['grants', 'add'],
    operands: ['<user_id>', '<source>', '<reference>'],
    flags: ['bytes', 'starts-at', 'ends-at'],
    required: ['bytes'],
    summary: 'grant capacity for a reason other than a device (--bytes 2GiB; times in RFC 3339)',
    run: async ({ grants }, { operands, flags, audit }) => {
      const userId = userIdOf(operands)
      const { grant, created } = await grants.putGrant({
        userId,
        source: operands[1] ?? '',
        reference: operands[2] ?? '',
        bytes: parseByteSize(flags['bytes'] ?? ''),
        startsAt: timeFlag(flags['starts-at'], 'starts_at'),
        endsAt: timeFlag(flags['ends-at'], 'ends_at'),
      })
      const { source, reference, bytes, startsAt, endsAt } = grant
      await audit({
        action: 'grant.put',
        user_id: userId,
        source,
        reference,
        bytes,
        starts_at: formatTimestamp(startsAt),
        ends_at: formatTimestamp(endsAt),
        created,
      })
      return grantRow(grant)
    },
  },
  {
    words: ['grants', 'revoke'],
    operands: ['<user_id>', '<source>', '<reference>'],
    summary: 'revoke a grant that is not a device',
    run: async ({ grants }, { operands, audit }) => {
      const [, source = '', reference = ''] = operands
      const userId = userIdOf(operands)
      await grants.revokeGrant({ userId, source, reference })
      await audit({ action: 'grant.revoke', user_id: userId, source, reference })
      return undefined
    },
  },
  {
    words: ['grants', 'list'],
    operands: ['<user_id>'],
    summary: 'list all grants of a user, including devices',
    run: async ({ grants }, { operands }) =>
      (await grants.listGrants(userIdOf(operands))).map(grantRow),
  },
]

function timeFlag(text: string | undefined, parameter: string): number | undefined {
  return text === undefined ? undefined : parseTimestamp(text, parameter)
}

function grantRow({ source, reference, bytes, startsAt, endsAt, createdAt }: Grant): Row {
  return {
    source,
    reference,
    bytes: new Bytes(bytes),
    starts_at: formatTimestamp(startsAt),
    ends_at: formatTimestamp(endsAt),
    created_at: formatTimestamp(createdAt),
  }
}

export const DEVICES: readonly Command[] = [
  {
    words: ['devices', 'add'],
    operands: ['<user_id>', '<device_id>'],
    flags: ['model', 'bytes'],
    summary: 'add a device, which increases the capacity of its user (--bytes 2GiB)',
    run: async ({ grants }, { operands, flags, audit }) => {
      const userId = userIdOf(operands)
      const { grant, created } = await grants.putDevice({
        userId,
        deviceId: operands[1] ?? '',
        model: flags['model'],
        bytes: flags['bytes'] === undefined ? undefined : parseByteSize(flags['bytes']),
      })
      const { reference: device_id, model, bytes } = grant
      const granted = { device_id, model, bytes, created }
      await audit({ action: 'device.put', user_id: userId, ...granted })
      return deviceRow(grant)
    },
  },
  {
    words: ['devices', 'remove'],
    operands: ['<user_id>', '<device_id>'],
    summary: 'remove a device, which reduces the capacity of its user',
    run: async ({ grants }, { operands, audit }) => {
      const [userId, device_id = ''] = [userIdOf(operands), operands[1]]
      await grants.removeDevice({ userId, deviceId: device_id })
      await audit({ action: 'device.remove', user_id: userId, device_id })
      return undefined
    },
  },
  {
    words: ['devices', 'list'],
    operands: ['<user_id>'],
    summary: 'list the devices of a user',
    run: async ({ grants }, { operands }) =>
      (await grants.listDevices(userIdOf(operands))).map(deviceRow),
  },
]

function deviceRow({ reference, model, bytes, createdAt }: Grant): Row {
  return {
    device_id: reference,
    model: model ?? null,
    bytes: new Bytes(bytes),
    created_at: formatTimestamp(createdAt),
  }
}
