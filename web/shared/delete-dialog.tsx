import { FormDialog } from './form-dialog.tsx'

export interface DeleteDialogProps {
  readonly remove: () => Promise<void>
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
  const { title, subject, action, text, onChange, onClose } = props

  async function submit(): Promise<void> {
    await props.remove()
    onChange()
  }

  return (
    <FormDialog
      title={title}
      subject={subject}
      action={action}
      isGrave
      submit={submit}
      onClose={onClose}
    >
      <p>{text}</p>
    </FormDialog>
  )
}
