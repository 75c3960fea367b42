import { useId } from 'preact/hooks'

export interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly hint?: string
  readonly type?: 'text' | 'date' | 'number'
  readonly maxLength?: number
  /** Whether a dialog begins with it. */
  readonly isFirst?: boolean
  readonly onInput: (value: string) => void
}

export function TextField(props: TextFieldProps) {
  const { label, value, hint, type = 'text', maxLength, isFirst = false, onInput } = props
  const id = useId()
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="field"
        type={type}
        min={type === 'number' ? 1 : undefined}
        maxLength={maxLength}
        value={value}
        autofocus={isFirst}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="quiet">
          {hint}
        </p>
      )}
    </div>
  )
}
