import { firstClick } from '../../shared/first-click.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import type { FolderTotal } from '../files/shown-entries.ts'

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
      onClick={firstClick(onOpen)}
    >
      <ShownName name={label} />
    </button>
  )
}

/** How many files are in a folder and those below; nothing if that is not known. */
export function FolderCount({ total }: { readonly total: FolderTotal | undefined }) {
  const { file_count: count = null } = total ?? {}
  return <span class="folder-count quiet">{count !== null && messages.folders.count(count)}</span>
}
