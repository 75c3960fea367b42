import { useState } from 'preact/hooks'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import type { NewFolderDialog } from './new-folder-dialog.tsx'

/** Makes a folder in the open one. Its dialog is loaded when it is first opened. */
export function NewFolderButton({ page }: { readonly page: Page }) {
  const [Opened, setOpened] = useState<typeof NewFolderDialog>()

  async function open(): Promise<void> {
    const { NewFolderDialog: Dialog } = await import('./new-folder-dialog.tsx')
    setOpened(() => Dialog)
  }

  return (
    <>
      <button
        type="button"
        class="button new-folder"
        aria-label={messages.folders.make}
        title={messages.folders.make}
        onClick={() => void page.toasts.attempt(open)}
      >
        <Icon name="newFolder" />
      </button>
      {Opened !== undefined && <Opened page={page} onClose={() => setOpened(undefined)} />}
    </>
  )
}
