import { useId } from 'preact/hooks'
import { messages } from '../messages.ts'
import { bytesOf, type SizeUnit, type TypedSize, UNITS } from './typed-size.ts'

export interface SizeFieldProps {
  readonly label: string
  readonly size: TypedSize
  readonly hint?: string
  readonly onInput: (size: TypedSize) => void
}

export function SizeField({ label, size, hint, onInput }: SizeFieldProps) {
  const id = useId()
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <div class="size-field">
        <input
          id={id}
          class="field"
          inputMode="decimal"
          value={size.amount}
          autocomplete="off"
          aria-invalid={size.amount !== '' && bytesOf(size) === undefined}
          onInput={(event) => onInput({ ...size, amount: event.currentTarget.value })}
        />
        <select
          class="field"
          aria-label={messages.unit}
          value={size.unit}
          onChange={(event) => onInput({ ...size, unit: event.currentTarget.value as SizeUnit })}
        >
          {Object.keys(UNITS).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      {hint !== undefined && <p class="quiet">{hint}</p>}
    </div>
  )
}
