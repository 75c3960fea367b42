import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'

export interface FolderNameProps {
  readonly label: string
  readonly tabIndex: number
  readonly onOpen: () => void
}

/** The name of a folder, which opens it. */
export function FolderName({ label, tabIndex, onOpen }: FolderNameProps) {
  return (
    <button
      type="button"
      class="name"
      tabIndex={tabIndex}
      aria-label={messages.files.folder(label)}
      title={visibleText(label)}
      onClick={onOpen}
    >
      <ShownName name={label} />
    </button>
  )
}
