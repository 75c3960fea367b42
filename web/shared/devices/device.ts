import { compareNames } from '../format.ts'
import type { DeviceUse } from '../model.ts'

/** As people know it. */
export function deviceName({ label, device_id: id }: Pick<DeviceUse, 'label' | 'device_id'>) {
  return label === null || label === '' ? id : label
}

/** The most that it may store; `undefined` if only the account limits it. */
export function shareOf({ share, bytes }: Pick<DeviceUse, 'share' | 'bytes'>): number | undefined {
  if (share === 'all') return undefined
  return share === 'own' ? bytes : share
}

/** By name, as people sort. */
export function byName(devices: readonly DeviceUse[] = []): readonly DeviceUse[] {
  return devices.toSorted((a, b) => compareNames(deviceName(a), deviceName(b)))
}

/** The one that uses most first. */
export function byUse(devices: readonly DeviceUse[] = []): readonly DeviceUse[] {
  return byName(devices).toSorted((a, b) => b.used - a.used)
}
