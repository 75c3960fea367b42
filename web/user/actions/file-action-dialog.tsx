import { archivePath, filePath } from '../../shared/connection.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import { nameOf } from '../files/shown-entries.ts'
import { labelOf } from '../folders/folder.ts'
import { MoveDialog } from '../moves/move-dialog.tsx'
import { changeFile, type FileActionProps } from './file-action.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { folderActions, permittedActions } from './row-actions.ts'
import { ShareDialog, ShareFolder } from './share-dialog.tsx'
import { type StayChange, StayDialog } from './stay-dialog.tsx'

/** The dialog of an action. */
export function FileActionDialog(props: FileActionProps) {
  const { page, action, onClose } = props
  const { kind, entry } = action
  if (kind === 'move') return <MoveDialog page={page} entries={[entry]} onClose={onClose} />
  if (kind === 'rename') return <RenameDialog page={page} entry={entry} onClose={onClose} />
  if (kind === 'more') return <MoreDialog {...props} />
  if (typeof entry === 'string') return <ShareFolder page={page} folder={entry} onClose={onClose} />
  if (kind === 'share') return <ShareDialog page={page} file={entry} onClose={onClose} />
  const change = (stay: StayChange) => changeFile(page, entry, stay)
  const mayExpire = page.permissions.may('history')
  return <StayDialog file={entry} mayExpire={mayExpire} change={change} onClose={onClose} />
}

/** All actions, where a row has no room for their buttons. */
function MoreDialog({ page, action, onAct, onClose }: FileActionProps) {
  const { entry } = action
  const isFolder = typeof entry === 'string'
  const words = messages.files.actions
  const actions = isFolder ? folderActions(page.permissions) : permittedActions(page.permissions)
  const path = isFolder ? archivePath(entry) : filePath(entry.name)
  return (
    <Dialog title={messages.files.more(labelOf(nameOf(entry)))} onClose={onClose}>
      <div class="choices">
        <a
          class="button"
          href={page.connection.urlOf(path)}
          download={isFolder ? '' : entry.name}
          onClick={onClose}
        >
          <Icon name="download" />
          {words.download}
        </a>
        {actions.map((kind) => (
          <button
            key={kind}
            type="button"
            class="button"
            onClick={() => {
              onClose()
              onAct(kind, entry)
            }}
          >
            <Icon name={kind} />
            {words[kind]}
          </button>
        ))}
      </div>
    </Dialog>
  )
}
