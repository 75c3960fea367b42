import { Choice } from '../../shared/choice.tsx'
import { VISIBILITIES, type Visibility } from '../../shared/model.ts'
import { messages } from '../../messages.ts'

export interface VisibilityFieldProps {
  readonly label: string
  /** `undefined` if several files differ. */
  readonly chosen: Visibility | undefined
  readonly isBusy?: boolean
  readonly onChoose: (visibility: Visibility) => void
}

/** Asks who can download files. */
export function VisibilityField({ label, chosen, isBusy, onChoose }: VisibilityFieldProps) {
  return (
    <fieldset class="radios" aria-busy={isBusy}>
      <legend>{label}</legend>
      {VISIBILITIES.map((visibility) => (
        <Choice
          key={visibility}
          group="visibility"
          title={messages.visibility.names[visibility]}
          hint={messages.visibility.explanations[visibility]}
          isChosen={chosen === visibility}
          onChange={() => onChoose(visibility)}
        />
      ))}
    </fieldset>
  )
}
