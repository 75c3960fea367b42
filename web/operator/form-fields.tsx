import { useId } from 'preact/hooks'
import { operatorWords } from './words.ts'

const words = operatorWords.forms

/** A size as typed; empty for none. */
export interface TypedSize {
  readonly amount: string
  readonly unit: SizeUnit
}

const UNITS = { bytes: 1, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const

type SizeUnit = keyof typeof UNITS

export const NO_SIZE: TypedSize = { amount: '', unit: 'GiB' }

/** In bytes; `undefined` if the text is not a size. */
export function bytesOf({ amount, unit }: TypedSize): number | undefined {
  const bytes = Math.round(Number(amount) * UNITS[unit])
  return amount.trim() !== '' && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined
}

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
          aria-label={words.unit}
          value={size.unit}
          onChange={(event) => onInput({ ...size, unit: event.currentTarget.value as SizeUnit })}
        >
          {Object.keys(UNITS).map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </div>
      {hint !== undefined && <p class="quiet">{hint}</p>}
    </div>
  )
}
