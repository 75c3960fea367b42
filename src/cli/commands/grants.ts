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
    run: async ({ grants }, { operands, flags }) => {
      const { grant } = await grants.putGrant({
        userId: userIdOf(operands),
        source: operands[1] ?? '',
        reference: operands[2] ?? '',
        bytes: parseByteSize(flags['bytes'] ?? ''),
        startsAt: timeFlag(flags['starts-at'], 'starts_at'),
        endsAt: timeFlag(flags['ends-at'], 'ends_at'),
      })
      return grantRow(grant)
    },
  },
  {
    words: ['grants', 'revoke'],
    operands: ['<user_id>', '<source>', '<reference>'],
    summary: 'revoke a grant that is not a device',
    run: async ({ grants }, { operands }) => {
      const [, source = '', reference = ''] = operands
      await grants.revokeGrant({ userId: userIdOf(operands), source, reference })
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
    run: async ({ grants }, { operands, flags }) => {
      const { grant } = await grants.putDevice({
        userId: userIdOf(operands),
        deviceId: operands[1] ?? '',
        model: flags['model'],
        bytes: flags['bytes'] === undefined ? undefined : parseByteSize(flags['bytes']),
      })
      return deviceRow(grant)
    },
  },
  {
    words: ['devices', 'remove'],
    operands: ['<user_id>', '<device_id>'],
    summary: 'remove a device, which reduces the capacity of its user',
    run: async ({ grants }, { operands }) => {
      await grants.removeDevice({ userId: userIdOf(operands), deviceId: operands[1] ?? '' })
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
