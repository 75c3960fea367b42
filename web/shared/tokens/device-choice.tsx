import { deviceName, shareOf } from '../devices/device.ts'
import type { DeviceUse } from '../model.ts'
import { SelectField } from '../select-field.tsx'
import { visibleText } from '../visible-text.ts'
import { words as deviceWords } from '../devices/words.ts'
import { words } from './words.ts'

export interface DeviceChoiceProps {
  readonly devices: readonly DeviceUse[]
  /** The id of a device; `undefined` for a program. */
  readonly chosen: string | undefined
  /** Whether something else than a device can be chosen. */
  readonly hasProgram: boolean
  readonly onChoose: (deviceId: string | undefined) => void
}

/** No device has it as its id. */
const PROGRAM = ''

/** Asks which device gets the token. Without devices, it says where they come from. */
export function DeviceChoice({ devices, chosen, hasProgram, onChoose }: DeviceChoiceProps) {
  if (devices.length === 0) return <p class="quiet">{words.noDevices}</p>
  const device = devices.find(({ device_id: id }) => id === chosen)
  const ofDevices = devices.map((each) => [each.device_id, summary(each)] as const)
  return (
    <SelectField
      label={words.what}
      options={hasProgram ? [...ofDevices, [PROGRAM, words.program]] : ofDevices}
      value={chosen ?? PROGRAM}
      hint={device === undefined ? words.programHint : details(device)}
      onChange={(id) => onChoose(id === PROGRAM ? undefined : id)}
    />
  )
}

function summary(device: DeviceUse): string {
  const [name, id] = [deviceName(device), device.device_id]
  const distinct = name === id ? id : `${name} (${id})`
  return visibleText(`${distinct}, ${deviceWords.use(device.used, shareOf(device))}`)
}

function details({ model, file_count: count }: DeviceUse): string {
  return visibleText([model, deviceWords.files(count)].filter(Boolean).join(', '))
}
