import { useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatCount } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { operatorWords } from '../words.ts'
import { TextField } from '../../shared/text-field.tsx'
import { ALL_USERS, filesOf } from '../route.ts'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.user

/** Show the files, suspend, reactivate and delete. */
export function UserActions(props: SectionProps) {
  const [asked, setAsked] = useState<'status' | 'removal'>()
  const isActive = props.record.account.status === 'active'
  const { page } = props
  const close = (): void => setAsked(undefined)
  return (
    <div class="record-actions">
      <a class="button" href={filesOf(props.record.account.user_id)}>
        <Icon name="folder" />
        {words.showFiles}
      </a>
      {page.may('support') && (
        <button type="button" class="button" onClick={() => setAsked('status')}>
          {isActive ? words.suspend : words.activate}
        </button>
      )}
      {page.may('admin') && (
        <button type="button" class="button button-bad" onClick={() => setAsked('removal')}>
          {words.remove}
        </button>
      )}
      {asked === 'status' && <StatusDialog {...props} onClose={close} />}
      {asked === 'removal' && <RemovalDialog {...props} onClose={close} />}
    </div>
  )
}

type DialogProps = SectionProps & { readonly onClose: () => void }

function StatusDialog({ page, record, onChange, onClose }: DialogProps) {
  const { account } = record
  // The status when the dialog opened, even if it changes meanwhile.
  const [isActive] = useState(account.status === 'active')

  async function change(): Promise<void> {
    await page.client.users.setStatus(account.user_id, isActive ? 'suspended' : 'active')
    onChange()
  }

  return (
    <FormDialog
      title={isActive ? words.suspendTitle : words.activateTitle}
      subject={account.user_id}
      action={isActive ? words.suspend : words.activate}
      isGrave={isActive}
      submit={change}
      onClose={onClose}
    >
      <p>{isActive ? words.suspendText : words.activateText}</p>
    </FormDialog>
  )
}

function RemovalDialog({ page, record, onClose }: DialogProps) {
  const { user_id: userId, capacity } = record.account
  const [typed, setTyped] = useState('')

  async function remove(): Promise<void> {
    await page.client.users.delete(userId)
    page.toasts.show(words.removed(userId))
    location.hash = ALL_USERS
  }

  return (
    <FormDialog
      title={words.removeTitle}
      subject={userId}
      action={words.remove}
      isGrave
      isReady={typed === userId}
      submit={remove}
      onClose={onClose}
    >
      <p>{words.removeText(formatCount(capacity.file_count))}</p>
      <TextField label={words.confirm(userId)} value={typed} onInput={setTyped} />
    </FormDialog>
  )
}
