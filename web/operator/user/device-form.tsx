import { useState } from 'preact/hooks'
import type { DeviceTerms } from '../../../packages/js/src/admin.ts'
import { FormDialog } from '../../shared/form-dialog.tsx'
import type { DeviceUse } from '../../shared/model.ts'
import { SelectField } from '../../shared/select-field.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { SizeField } from '../../shared/size-field.tsx'
import { bytesOf, NO_SIZE, type TypedSize, typedSize } from '../../shared/typed-size.ts'
import { operatorWords } from '../words.ts'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.devices

type ShareKind = keyof typeof words.shares

/** What a form can ask for; a new device can leave its share to the service. */
const SHARES = Object.entries(words.shares) as [ShareKind, string][]

export interface DeviceFormProps extends SectionProps {
  /** The device to change; a new one without it. */
  readonly device?: DeviceUse | undefined
  readonly onClose: () => void
}

/** Adds a device, or changes what is known of one and how much it may store. */
export function DeviceForm({ user, device, onChange, onClose }: DeviceFormProps) {
  const [id, setId] = useState(device?.device_id ?? '')
  const [label, setLabel] = useState(device?.label ?? '')
  const [model, setModel] = useState(device?.model ?? '')
  const [size, setSize] = useState(typedSize(device?.bytes ?? null))
  const given = device?.share
  const [share, setShare] = useState<ShareKind>(
    given === undefined ? 'default' : typeof given === 'number' ? 'fixed' : given,
  )
  const [fixed, setFixed] = useState(typedSize(typeof given === 'number' ? given : null))
  const isReady =
    id.trim() !== '' && isEmptyOrSize(size) && (share !== 'fixed' || bytesOf(fixed) !== undefined)

  async function save(): Promise<void> {
    await user.devices.put(id.trim(), termsOf({ label, model, size, share, fixed }))
    onChange()
  }

  return (
    <FormDialog
      title={device === undefined ? words.add : words.changeTitle}
      {...(device !== undefined && { subject: device.device_id })}
      action={device === undefined ? words.addAction : words.changeAction}
      isReady={isReady}
      submit={save}
      onClose={onClose}
    >
      {device === undefined && (
        <TextField label={words.id} hint={words.idHint} value={id} onInput={setId} />
      )}
      <TextField label={words.label} hint={words.labelHint} value={label} onInput={setLabel} />
      <TextField label={words.model} value={model} onInput={setModel} />
      <SizeField label={words.bytes} hint={words.bytesHint} size={size} onInput={setSize} />
      <SelectField
        label={words.share}
        options={SHARES.filter(([kind]) => kind !== 'default' || device === undefined)}
        value={share}
        hint={words.shareHint}
        onChange={setShare}
      />
      {share === 'fixed' && <SizeField label={words.fixed} size={fixed} onInput={setFixed} />}
    </FormDialog>
  )
}

function isEmptyOrSize(size: TypedSize): boolean {
  return size.amount.trim() === NO_SIZE.amount || bytesOf(size) !== undefined
}

interface Typed {
  readonly label: string
  readonly model: string
  readonly size: TypedSize
  readonly share: ShareKind
  readonly fixed: TypedSize
}

/** What is empty is left to the service. */
function termsOf({ label, model, size, share, fixed }: Typed): DeviceTerms {
  const bytes = bytesOf(size)
  const limit = share === 'fixed' ? bytesOf(fixed) : share === 'default' ? undefined : share
  return {
    ...(label.trim() !== '' && { label: label.trim() }),
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(bytes !== undefined && { bytes }),
    ...(limit !== undefined && { share: limit }),
  }
}
