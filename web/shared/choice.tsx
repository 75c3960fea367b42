export interface ChoiceProps {
  /** Of the choices of which one can be made; without it, this is a choice of its own. */
  readonly group?: string
  readonly title: string
  readonly hint: string
  readonly isChosen: boolean
  readonly onChange: () => void
}

/** A radio button or a check box, with an explanation. */
export function Choice({ group, title, hint, isChosen, onChange }: ChoiceProps) {
  return (
    <label class="radio">
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={isChosen}
        onChange={onChange}
      />
      <span>
        <strong>{title}</strong>
        <span class="quiet">{hint}</span>
      </span>
    </label>
  )
}
