import { useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { byUse, deviceName, shareOf } from '../../shared/devices/device.ts'
import { UseBar } from '../../shared/devices/use-bar.tsx'
import { words as deviceWords } from '../../shared/devices/words.ts'
import { formatBytes } from '../../shared/format.ts'
import type { DeviceUse } from '../../shared/model.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import { operatorWords } from '../words.ts'
import { DeviceForm } from './device-form.tsx'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.devices

/** The devices of a user, the one that uses most first. */
export function DeviceSection(props: SectionProps) {
  const { page, user, record, onChange } = props
  const isAdmin = page.may('admin')
  const [isAdding, setAdding] = useState(false)
  const [changing, setChanging] = useState<DeviceUse>()
  const [leaving, setLeaving] = useState<DeviceUse>()
  const { devices, capacity } = record.account
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={isAdmin ? words.add : undefined}
        onAdd={() => setAdding(true)}
      >
        {byUse(devices).map((device) => (
          <Entry
            key={device.device_id}
            icon="device"
            name={deviceName(device)}
            details={detailsOf(device)}
            bar={<UseBar device={device} capacity={capacity.capacity} />}
            figure={words.adds(formatBytes(device.bytes))}
            {...(isAdmin && {
              action: {
                label: words.changeNamed(device.device_id),
                text: words.change,
                run: () => setChanging(device),
              },
              remove: {
                label: words.removeNamed(device.device_id),
                text: words.remove,
                run: () => setLeaving(device),
              },
            })}
          />
        ))}
      </SectionFrame>
      {isAdding && <DeviceForm {...props} onClose={() => setAdding(false)} />}
      {changing !== undefined && (
        <DeviceForm {...props} device={changing} onClose={() => setChanging(undefined)} />
      )}
      {leaving !== undefined && (
        <DeleteDialog
          remove={() => user.devices.delete(leaving.device_id)}
          title={words.removeTitle}
          subject={leaving.device_id}
          action={words.remove}
          text={words.removeText(formatBytes(leaving.bytes))}
          onChange={onChange}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </>
  )
}

function detailsOf(device: DeviceUse): readonly string[] {
  const { device_id: id, model, used, file_count: count, newest_at: newest } = device
  return [
    deviceName(device) === id ? '' : id,
    model ?? '',
    deviceWords.use(used, shareOf(device)),
    deviceWords.files(count),
    newest === null ? '' : deviceWords.newest(newest),
  ]
}
