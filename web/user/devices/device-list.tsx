import { byUse, deviceName, shareOf } from '../../shared/devices/device.ts'
import { UseBar } from '../../shared/devices/use-bar.tsx'
import { words } from '../../shared/devices/words.ts'
import { Icon } from '../../shared/icon.tsx'
import type { DeviceUse } from '../../shared/model.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import type { Page } from '../user-page.ts'

export interface DeviceListProps {
  readonly page: Page
  readonly devices: readonly DeviceUse[]
  /** Of the account. */
  readonly capacity: number
}

/** What each device stores, the one that uses most first. A click shows its files. */
export function DeviceList({ page, devices, capacity }: DeviceListProps) {
  return (
    <ul class="grants" aria-label={words.title}>
      {byUse(devices).map((device) => {
        const { device_id: id, file_count: count, newest_at: newest } = device
        const name = deviceName(device)
        return (
          <li key={id} class="grant device-use">
            <Icon name="device" />
            <div class="grant-words">
              <button
                type="button"
                class="device-name"
                aria-label={visibleText(words.show(name))}
                aria-pressed={page.list.device.value === id}
                onClick={() => page.folders.openDevice(id)}
              >
                <ShownName name={name} />
              </button>
              <UseBar device={device} capacity={capacity} />
              <span class="quiet">
                {[
                  words.use(device.used, shareOf(device)),
                  words.files(count),
                  newest === null ? '' : words.newest(newest),
                ]
                  .filter(Boolean)
                  .join(', ')}
              </span>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
