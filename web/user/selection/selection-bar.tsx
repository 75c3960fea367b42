import './selection.css'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ActionMenu, type MenuAction } from '../../shared/action-menu.tsx'
import { Icon } from '../../shared/icon.tsx'
import { IconButton } from '../../shared/icon-button.tsx'
import { archivePath } from '../../shared/connection.ts'
import { currentEntry, useKeptFocus } from '../../shared/kept-focus.ts'
import { messages } from '../../messages.ts'
import type { FileViewProps } from '../files/file-window.ts'
import { permittedActions } from '../actions/row-actions.ts'
import { archiveParts, bytesOf } from './archive.ts'
import { ArchiveDialog, type SelectionDialogProps } from './archive-dialog.tsx'
import { updateMany } from './change-many.ts'
import { findMany } from './find-many.ts'
import { countOf } from '../folders/files-of.ts'
import { removeEntries } from '../folders/remove-entries.ts'
import { MoveDialog } from '../moves/move-dialog.tsx'
import { isElsewhere } from './select-files.ts'
import { ShareDialog } from './share-dialog.tsx'

const words = messages.selection

/** Says how many files are selected, and offers what the token permits to do with all of them. */
export function SelectionBar({ page, onAct }: FileViewProps) {
  const { selection, list, content, connection, permissions } = page
  const files = selection.files.value
  const entries = selection.entries.value
  const isReading = selection.isReading.value
  const bar = useRef<HTMLDivElement>(null)
  const [View, setView] = useState<ComponentType<SelectionDialogProps>>()
  const [isMoving, setMoving] = useState(false)
  const [isListing, setListing] = useState(false)
  const permitted = permittedActions(permissions)
  const isKept = files.every(({ keep }) => keep === true)
  useKeys({
    Escape: selection.clear,
    ...(permitted.includes('remove') && { Delete: () => void removeEntries(page, entries) }),
  })
  useKeptFocus(bar, currentEntry)

  function download(): void {
    const [folder] = entries
    if (entries.length === 1 && typeof folder === 'string')
      return save(connection.urlOf(archivePath(folder)))
    const parts = archiveParts(files)
    const [file, part] = [files[0], parts[0]]
    if (files.length === 1 && file !== undefined) save(content.downloadUrlOf(file))
    else if (parts.length === 1 && part !== undefined) save(connection.urlOf(part.path))
    else setView(() => ArchiveDialog)
  }

  async function keep(): Promise<void> {
    const known = await findMany(list, files)
    const changed = known.filter((file) => file.keep === isKept)
    if (changed.length === 0) page.toasts.show(words.done.keep(known.length))
    await updateMany(page, {
      kind: isKept ? 'unkeep' : 'keep',
      files: changed,
      change: { keep: !isKept },
      before: () => ({ keep: isKept }),
    })
  }

  async function selectAll(): Promise<void> {
    setListing(true)
    await list.loadAll()
    setListing(false)
    // The user may have ended it meanwhile.
    if (selection.files.value.length > 0) selection.addAll()
  }

  function share(): void {
    const [entry] = entries
    if (entries.length === 1 && entry !== undefined) onAct('share', entry)
    else setView(() => ShareDialog)
  }

  const { actions } = words
  const keepLabel = isKept ? actions.unkeep : actions.keep
  const offered = [
    { icon: 'download', label: actions.download, run: download },
    permitted.includes('share') && { icon: 'share', label: actions.share, run: share },
    permitted.includes('move') && {
      icon: 'move',
      label: actions.move,
      run: () => setMoving(true),
    },
    permitted.includes('stay') && {
      icon: 'stay',
      label: keepLabel,
      run: () => page.toasts.attempt(keep),
    },
    permitted.includes('remove') && {
      icon: 'remove',
      label: actions.remove,
      run: () => removeEntries(page, entries),
    },
  ].filter((action): action is MenuAction & { run: () => unknown } => action !== false)
  const hasOthers = list.hasMore.value || list.entries.value.some((entry) => !selection.has(entry))
  return (
    <div ref={bar} class="selection" role="group" aria-label={words.title}>
      <IconButton icon="close" label={words.end} onClick={selection.clear} />
      <p class="selection-count">
        <strong>{words.count(countOf(files))}</strong>{' '}
        <span class="quiet">{words.size(bytesOf(files))}</span>
        {list.hasMore.value && <span class="quiet">{words.more}</span>}
        {isReading && <span class="quiet">{messages.files.loading}</span>}
      </p>
      {hasOthers && (
        <button
          type="button"
          class="button button-plain"
          disabled={isListing}
          onClick={() => void selectAll()}
        >
          {isListing ? messages.files.loading : words.all}
        </button>
      )}
      <div class="selection-actions">
        {offered.map((action) => (
          <button
            key={action.icon}
            type="button"
            class="button"
            aria-label={action.label}
            title={action.label}
            // Whole folders are moved and deleted also while their files are being read.
            disabled={isReading && !OF_FOLDERS.has(action.icon)}
            onClick={() => void action.run()}
          >
            <Icon name={action.icon} />
            <span>{action.label}</span>
          </button>
        ))}
      </div>
      {page.selectionMenu.value !== undefined && (
        <ActionMenu
          title={words.count(countOf(files))}
          actions={isReading ? offered.filter(({ icon }) => OF_FOLDERS.has(icon)) : offered}
          at={page.selectionMenu.value.at}
          onClose={() => (page.selectionMenu.value = undefined)}
        />
      )}
      {isMoving && <MoveDialog page={page} entries={entries} onClose={() => setMoving(false)} />}
      {View !== undefined && <View page={page} files={files} onClose={() => setView(undefined)} />}
    </div>
  )
}

const OF_FOLDERS: ReadonlySet<string> = new Set(['move', 'remove'])

/** Lets the browser save what is at an address of the service. */
function save(url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

/** Keys that act on the selection, whatever has the focus but fields and dialogs. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const act = latest.current[event.key]
      if (act === undefined || isElsewhere(event.target)) return
      event.preventDefault()
      // Else, the file that has the focus would be deleted too.
      event.stopPropagation()
      act()
    }
    document.addEventListener('keydown', onKeyDown, { capture: true })
    return () => document.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [])
}
