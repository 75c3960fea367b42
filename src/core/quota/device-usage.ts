import { formatTimestamp } from '../timestamp.ts'
import type { DeviceShare } from './device-share.ts'

/** A device of an account, and what its files take; in bytes except `fileCount`. */
export interface DeviceUsage {
  readonly deviceId: string
  readonly label: string | undefined
  readonly model: string | undefined
  /** What the device adds to the capacity. */
  readonly bytes: number
  readonly share: DeviceShare
  readonly used: number
  /** Reserved by its uploads in progress, on top of `used`. */
  readonly reserved: number
  readonly fileCount: number
  /** When one of its files was last written or changed; `undefined` without a file. */
  readonly newestAt: number | undefined
}

export function deviceUsageJson(device: DeviceUsage) {
  return {
    device_id: device.deviceId,
    label: device.label ?? null,
    model: device.model ?? null,
    bytes: device.bytes,
    share: device.share,
    used: device.used,
    reserved: device.reserved,
    file_count: device.fileCount,
    newest_at: formatTimestamp(device.newestAt),
  }
}
