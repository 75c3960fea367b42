import { DownloadButton, IconButton } from '../../shared/icon-button.tsx'
import { messages } from '../../messages.ts'
import type { Act } from '../actions/file-action.ts'
import type { RowAction } from '../actions/row-actions.ts'
import { type Entry, asFile } from './shown-entries.ts'

const words = messages.files

export interface ActionsCellProps {
  readonly entry: Entry
  /** What it is called in the labels of the buttons. */
  readonly label: string
  /** Where its content is. */
  readonly url: string
  readonly tabIndex: number
  readonly actions: readonly RowAction[]
  readonly onAct: Act
}

/** The last cell of a row: what can be done with a file or a folder. Where there is little room, one button opens a menu. */
export function ActionsCell({ entry, label, url, tabIndex, actions, onAct }: ActionsCellProps) {
  return (
    <div class="cell cell-actions" role="gridcell">
      <DownloadButton
        class="wide-only"
        url={url}
        name={asFile(entry)?.name ?? ''}
        label={words.download(label)}
        tabIndex={tabIndex}
      />
      {actions.map((action) => (
        <IconButton
          key={action}
          class="wide-only"
          icon={action}
          label={words[action](label)}
          title={words.actions[action]}
          tabIndex={tabIndex}
          onClick={() => onAct(action, entry)}
        />
      ))}
      <IconButton
        class="narrow-only"
        icon="more"
        label={words.more(label)}
        tabIndex={tabIndex}
        onClick={() => onAct('more', entry)}
      />
    </div>
  )
}
