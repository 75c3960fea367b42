import { filePath } from '../../shared/connection.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import { changeFile, type FileActionProps } from './file-action.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { permittedActions } from './row-actions.ts'
import { ShareDialog } from './share-dialog.tsx'
import { type StayChange, StayDialog } from './stay-dialog.tsx'

/** The dialog of an action. */
export function FileActionDialog(props: FileActionProps) {
  const { page, action, onClose } = props
  const { kind, file } = action
  if (kind === 'share') return <ShareDialog {...props} />
  if (kind === 'stay') {
    const change = (stay: StayChange) => changeFile(page, file, stay)
    const mayExpire = page.permissions.may('history')
    return <StayDialog file={file} mayExpire={mayExpire} change={change} onClose={onClose} />
  }
  return kind === 'rename' ? <RenameDialog {...props} /> : <MoreDialog {...props} />
}

/** All actions, where a row has no room for their buttons. */
function MoreDialog({ page, action, onAct, onClose }: FileActionProps) {
  const { file } = action
  const words = messages.files.actions
  return (
    <Dialog title={messages.files.more(file.name)} onClose={onClose}>
      <div class="choices">
        <a
          class="button"
          href={page.connection.urlOf(filePath(file.name))}
          download={file.name}
          onClick={onClose}
        >
          <Icon name="download" />
          {words.download}
        </a>
        {permittedActions(page.permissions).map((kind) => (
          <button
            key={kind}
            type="button"
            class="button"
            onClick={() => {
              onClose()
              onAct(kind, file)
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
