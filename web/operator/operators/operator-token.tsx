import { useState } from 'preact/hooks'
import type { IssuedOperator } from '../../../packages/js/src/admin.ts'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { operatorWords } from '../words.ts'

const words = operatorWords.operators

export interface OperatorTokenProps {
  readonly operator: IssuedOperator
  readonly onClose: () => void
}

/** Shows the token of a new operator, once. */
export function OperatorToken({ operator, onClose }: OperatorTokenProps) {
  const [said, setSaid] = useState('')
  return (
    <Dialog title={words.added} subject={operator.name} onClose={onClose}>
      <p>{words.once}</p>
      <CopyField
        label={words.token}
        value={operator.token}
        words={words.copy}
        said={said}
        onSaid={setSaid}
      />
      <div class="dialog-actions">
        <button type="button" class="button button-main" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </Dialog>
  )
}
