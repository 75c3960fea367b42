import { archivePath, filePath } from '../../shared/connection.ts'
import { ActionMenu, type MenuAction } from '../../shared/action-menu.tsx'
import { messages } from '../../messages.ts'
import { nameOf } from '../files/shown-entries.ts'
import { labelOf } from '../../shared/folder.ts'
import { MoveDialog } from '../moves/move-dialog.tsx'
import { changeFile, type FileActionProps } from './file-action.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { folderActions, permittedActions } from './row-actions.ts'
import { ShareDialog } from './share-dialog.tsx'
import { type StayChange, StayDialog } from './stay-dialog.tsx'

/** The dialog of an action. */
export function FileActionDialog(props: FileActionProps) {
  const { page, action, onClose } = props
  const { kind, entry } = action
  if (kind === 'move') return <MoveDialog page={page} entries={[entry]} onClose={onClose} />
  if (kind === 'rename') return <RenameDialog page={page} entry={entry} onClose={onClose} />
  if (kind === 'more') return <MoreMenu {...props} />
  if (kind === 'share' || typeof entry === 'string')
    return <ShareDialog page={page} entry={entry} onClose={onClose} />
  const change = (stay: StayChange) => changeFile(page, entry, stay)
  const mayExpire = page.permissions.may('history')
  return <StayDialog file={entry} mayExpire={mayExpire} change={change} onClose={onClose} />
}

/** All actions, where a row has no room for their buttons, or where the user asks for them. */
function MoreMenu({ page, action, onAct, onClose }: FileActionProps) {
  const { entry, at } = action
  const { connection, permissions, selection } = page
  const isFolder = typeof entry === 'string'
  const words = messages.files.actions
  const kinds = isFolder ? folderActions(permissions) : permittedActions(permissions)
  const url = connection.urlOf(isFolder ? archivePath(entry) : filePath(entry.name))
  const name = isFolder ? '' : labelOf(entry.name)
  const actions: readonly MenuAction[] = [
    { icon: 'check', label: words.select, run: () => selection.toggle(entry) },
    { icon: 'download', label: words.download, download: { url, name } },
    ...kinds.map((kind) => ({ icon: kind, label: words[kind], run: () => onAct(kind, entry) })),
  ]
  const title = messages.files.more(labelOf(nameOf(entry)))
  return <ActionMenu title={title} actions={actions} at={at} onClose={onClose} />
}
