import { useState } from 'preact/hooks'
import type { IssuedOperator, OperatorRole, Operators } from '../../../packages/js/src/admin.ts'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { SelectField } from '../../shared/select-field.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { ROLES } from '../page.ts'
import { operatorWords } from '../words.ts'

const words = operatorWords.operators

export interface AddOperatorProps {
  readonly operators: Operators
  readonly onAdded: (operator: IssuedOperator) => void
  readonly onClose: () => void
}

export function AddOperator({ operators, onAdded, onClose }: AddOperatorProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<OperatorRole>('viewer')

  async function add(): Promise<void> {
    onAdded(await operators.add(name.trim(), role))
  }

  return (
    <FormDialog
      title={words.add}
      action={words.addAction}
      isReady={name.trim() !== ''}
      submit={add}
      onClose={onClose}
    >
      <TextField label={words.name} hint={words.nameHint} value={name} onInput={setName} />
      <SelectField
        label={words.role}
        options={ROLES.map((each) => [each, operatorWords.roles[each]])}
        value={role}
        hint={words.roleHints[role]}
        onChange={setRole}
      />
    </FormDialog>
  )
}
