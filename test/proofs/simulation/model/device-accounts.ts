import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { LedgerState } from './ledger-state.ts'
import type { ModelUser } from './model.ts'

/**
 * A device is an account within the account: its files are all that there is, and its share is the capacity. What holds
 * for an account so holds for a device. `undefined` is the account itself.
 */
export type DeviceId = string | undefined

export function userAs(user: ModelUser, deviceId: DeviceId): ModelUser {
  if (deviceId === undefined) return user
  const files = new Map([...user.files].filter(([, file]) => file.deviceId === deviceId))
  return { ...user, files, base: shareOf(user, deviceId), granted: 0, devices: new Map() }
}

/** Without the uploads of others; the others have reserved what they have reserved of the share. */
export function stateAs(state: LedgerState, deviceId: DeviceId): LedgerState {
  if (deviceId === undefined) return state
  const uploads = state.uploads.flatMap((row) =>
    row.device_id === deviceId
      ? [Object.assign({}, row, { reserved_bytes: row.device_reserved })]
      : [],
  )
  return { ...state, uploads }
}

export function reservedBytes({ uploads }: LedgerState, userId: UserId): number {
  return uploads
    .filter((row) => row.user_id === userId && row.state === 'pending')
    .reduce((sum, row) => sum + row.reserved_bytes, 0)
}

/** Devices that have files, and the account. */
export function accountsIn({ files }: ModelUser): ReadonlySet<DeviceId> {
  return new Set([undefined, ...[...files.values()].map((file) => file.deviceId ?? undefined)])
}

/** In bytes; no limit for a device that is not there any more. */
function shareOf({ devices }: ModelUser, deviceId: string): number {
  const { bytes, share } = devices.get(deviceId) ?? { bytes: 0, share: 'all' }
  if (share === 'own') return bytes
  return share === 'all' ? Infinity : share
}
