import { parseByteSize } from '../../core/byte-size.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { Grant } from '../../core/users/user-store.ts'
import { userIdOf, type Command } from '../command.ts'
import type { Row } from '../render.ts'

export const DEVICES: readonly Command[] = [
  {
    words: ['devices', 'add'],
    operands: ['<user_id>', '<device_id>'],
    flags: ['model', 'bytes'],
    summary: 'let a device add its bytes to the capacity',
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
    flags: [],
    summary: 'take a device and its bytes away',
    run: async ({ grants }, { operands }) => {
      await grants.removeDevice({ userId: userIdOf(operands), deviceId: operands[1] ?? '' })
      return undefined
    },
  },
  {
    words: ['devices', 'list'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'list devices',
    run: async ({ grants }, { operands }) =>
      (await grants.listDevices(userIdOf(operands))).map(deviceRow),
  },
]

function deviceRow({ reference, model, bytes, createdAt }: Grant): Row {
  return {
    device_id: reference,
    model: model ?? null,
    bytes,
    created_at: formatTimestamp(createdAt),
  }
}
