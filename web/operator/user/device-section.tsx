import { useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatBytes, formatTime } from '../../shared/format.ts'
import { operatorWords } from '../words.ts'
import { bytesOf, NO_SIZE, SizeField } from '../form-fields.tsx'
import { TextField } from '../../shared/text-field.tsx'
import type { Device } from '../../../packages/js/src/admin.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.devices

export function DeviceSection(props: SectionProps) {
  const { user, record, onChange } = props
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Device>()
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={words.add}
        onAdd={() => setAdding(true)}
      >
        {record.devices.map((device) => (
          <Entry
            key={device.device_id}
            icon="device"
            name={device.device_id}
            details={[device.model ?? '', words.since(formatTime(device.created_at))]}
            figure={formatBytes(device.bytes)}
            remove={{
              label: words.removeNamed(device.device_id),
              text: words.remove,
              run: () => setLeaving(device),
            }}
          />
        ))}
      </SectionFrame>
      {isAdding && <AddDevice {...props} onClose={() => setAdding(false)} />}
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

function AddDevice({ user, onChange, onClose }: SectionProps & { onClose: () => void }) {
  const [deviceId, setDeviceId] = useState('')
  const [model, setModel] = useState('')
  const [size, setSize] = useState(NO_SIZE)
  const bytes = bytesOf(size)

  async function add(): Promise<void> {
    const terms = {
      ...(model.trim() === '' ? {} : { model: model.trim() }),
      ...(bytes === undefined ? {} : { bytes }),
    }
    await user.devices.put(deviceId.trim(), terms)
    onChange()
  }

  return (
    <FormDialog
      title={words.add}
      action={words.addAction}
      isReady={deviceId.trim() !== '' && (size.amount === '' || bytes !== undefined)}
      submit={add}
      onClose={onClose}
    >
      <TextField label={words.id} hint={words.idHint} value={deviceId} onInput={setDeviceId} />
      <TextField label={words.model} value={model} onInput={setModel} />
      <SizeField label={words.bytes} hint={words.bytesHint} size={size} onInput={setSize} />
    </FormDialog>
  )
}
