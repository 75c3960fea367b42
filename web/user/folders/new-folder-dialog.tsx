import { useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { messages } from '../../messages.ts'
import { words } from '../moves/words.ts'
import type { Page } from '../user-page.ts'
import { makeFolder } from './make-folder.ts'

export interface NewFolderDialogProps {
  readonly page: Page
  readonly onClose: () => void
}

/** Asks for the name of a new folder in the open one, and makes it. */
export function NewFolderDialog({ page, onClose }: NewFolderDialogProps) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      title={messages.folders.make}
      action={words.makeAction}
      isReady={name !== ''}
      submit={async () => {
        const { list } = page
        list.destination.value = await makeFolder(page, list.path.value, name)
      }}
      onClose={onClose}
    >
      <TextField label={words.folderName} value={name} isFirst onInput={setName} />
    </FormDialog>
  )
}
