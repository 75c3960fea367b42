import { useId } from 'preact/hooks'

export interface SelectFieldProps<Value extends string> {
  readonly label: string
  /** Values with their names, in this order. */
  readonly options: readonly (readonly [Value, string])[]
  readonly value: Value
  /** About the chosen one. */
  readonly hint?: string
  readonly onChange: (value: Value) => void
}

/** Chooses one of a few named values. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, options, value, hint = '', onChange } = props
  const id = useId()
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="field"
        value={value}
        aria-describedby={hint === '' ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
      {hint !== '' && (
        <p id={`${id}-hint`} class="quiet">
          {hint}
        </p>
      )}
    </div>
  )
}
