import type { Api } from './api.ts'
import { FormDialog } from './form-dialog.tsx'

export interface DeleteDialogProps {
  readonly api: Api
  /** In the API, of what is deleted. */
  readonly path: string
  readonly title: string
  readonly subject: string
  /** Label of the button that deletes. */
  readonly action: string
  /** What the deletion means. */
  readonly text: string
  /** Called after the deletion, before the dialog closes. */
  readonly onChange: () => void
  readonly onClose: () => void
}

/** Asks before it deletes something. */
export function DeleteDialog(props: DeleteDialogProps) {
  const { api, path, title, subject, action, text, onChange, onClose } = props

  async function remove(): Promise<void> {
    await api.call(path, { method: 'DELETE' })
    onChange()
  }

  return (
    <FormDialog
      title={title}
      subject={subject}
      action={action}
      isGrave
      submit={remove}
      onClose={onClose}
    >
      <p>{text}</p>
    </FormDialog>
  )
}
