import { deviceName } from '../../shared/devices/device.ts'
import { formatBytes } from '../../shared/format.ts'
import { Icon, type IconName } from '../../shared/icon.tsx'
import type { Capacity } from '../../shared/model.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { DeviceList } from './device-list.tsx'

const words = messages.capacity

export interface CapacityPartsProps {
  readonly page: Page
  readonly capacity: Capacity
}

/** What each device stores, and the devices and other grants that the capacity consists of. */
export function CapacityParts({ page, capacity }: CapacityPartsProps) {
  const { grants, devices } = capacity
  return (
    <>
      {devices.length > 0 && (
        <>
          <DeviceList page={page} devices={devices} capacity={capacity.capacity} />
          <h3>{words.parts}</h3>
        </>
      )}
      <ul class="grants" aria-label={words.parts}>
        {grants.map((grant) => (
          <GrantRow key={`${grant.source} ${grant.reference}`} grant={grant} capacity={capacity} />
        ))}
      </ul>
    </>
  )
}

function GrantRow({
  grant,
  capacity,
}: {
  readonly grant: Capacity['grants'][number]
  readonly capacity: Capacity
}) {
  const { source, reference, bytes, model, ends_at: end } = grant
  const isBase = source === 'base'
  const isDevice = source === 'device'
  const device = capacity.devices.find(({ device_id: id }) => isDevice && id === reference)
  const name = isBase ? words.base : device === undefined ? reference : deviceName(device)
  const kind = isDevice ? (model ?? words.device) : isBase ? '' : source
  return (
    <li class="grant">
      <Icon name={iconOf(source)} />
      <div class="grant-words">
        <strong>
          <ShownName name={name} />
        </strong>
        <span class="quiet">
          {[kind, end === null ? '' : words.until(end)].filter(Boolean).join(', ')}
        </span>
        <span class="quiet">{isBase ? words.stays : withoutIt(bytes, capacity)}</span>
      </div>
      <span class="grant-bytes">{formatBytes(bytes)}</span>
    </li>
  )
}

/** The effect of losing a grant. */
function withoutIt(bytes: number, { capacity, used }: Capacity): string {
  const left = capacity - bytes - used
  return left >= 0 ? words.leaves(left) : words.leavesOver(-left)
}

function iconOf(source: string): IconName {
  if (source === 'base') return 'account'
  return source === 'device' ? 'device' : 'gift'
}
