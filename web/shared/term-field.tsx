export interface TermFieldProps {
  readonly label: string
  /** Offered validity in days; 0 means until revoked. */
  readonly terms: readonly number[]
  readonly days: number
  readonly nameOf: (days: number) => string
  readonly onChange: (days: number) => void
}

/** Asks for how long a token or a link is valid. */
export function TermField({ label, terms, days, nameOf, onChange }: TermFieldProps) {
  return (
    <fieldset class="radios terms">
      <legend>{label}</legend>
      {terms.map((term) => (
        <label key={term} class="radio">
          <input type="radio" name="term" checked={days === term} onChange={() => onChange(term)} />
          <span>{nameOf(term)}</span>
        </label>
      ))}
    </fieldset>
  )
}
