import { Choice } from '../../shared/choice.tsx'
import { VISIBILITIES, type Visibility } from '../../shared/model.ts'
import { words } from '../links/words.ts'

export interface VisibilityFieldProps {
  readonly label: string
  /** `undefined` if several files differ. */
  readonly chosen: Visibility | undefined
  readonly isBusy?: boolean
  readonly onChoose: (visibility: Visibility) => void
}

/** Asks who can see files without a link. */
export function VisibilityField({ label, chosen, isBusy, onChoose }: VisibilityFieldProps) {
  return (
    <fieldset class="radios" aria-busy={isBusy}>
      <legend>{label}</legend>
      {VISIBILITIES.map((visibility) => {
        const [title = '', hint = ''] = words.visibilities[visibility]
        return (
          <Choice
            key={visibility}
            group="visibility"
            title={title}
            hint={hint}
            isChosen={chosen === visibility}
            onChange={() => onChoose(visibility)}
          />
        )
      })}
    </fieldset>
  )
}
