import type { DeviceUse } from '../model.ts'
import { shareOf } from './device.ts'

export interface UseBarProps {
  readonly device: DeviceUse
  /** The capacity of the account, which limits a device without a share of its own. */
  readonly capacity: number
}

/** How full the share of a device is. The text beside it says the same. */
export function UseBar({ device, capacity }: UseBarProps) {
  const share = shareOf(device) ?? capacity
  const part = share === 0 ? Number(device.used > 0) : Math.min(1, device.used / share)
  return (
    <span class={`bar bar-thin ${part >= 0.99 ? 'bar-full' : ''}`} aria-hidden="true">
      <span style={{ width: `${part * 100}%` }} />
    </span>
  )
}
