import { deviceName } from '../../shared/devices/device.ts'
import { words } from '../../shared/devices/words.ts'
import { visibleText } from '../../shared/visible-text.ts'
import type { Page } from '../user-page.ts'

/** Says whose files are shown, instead of the breadcrumbs, and shows all again. */
export function DeviceBar({ page }: { readonly page: Page }) {
  const id = page.list.device.value
  const devices = page.capacity.figures.value?.devices ?? []
  const device = devices.find((each) => each.device_id === id)
  return (
    <div class="folder-bar device-bar">
      <p>{visibleText(words.shown(device === undefined ? id : deviceName(device)))}</p>
      <button type="button" class="crumb" onClick={() => page.folders.open('')}>
        {words.showAll}
      </button>
    </div>
  )
}
