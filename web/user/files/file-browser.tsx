import { useRef, useState } from 'preact/hooks'
import type { Point } from '../../shared/dialog.tsx'
import type { GatheredFile } from '../../shared/gathered-file.ts'
import { Icon } from '../../shared/icon.tsx'
import type { FileEntry } from '../../shared/model.ts'
import { Search } from '../../shared/search.tsx'
import { SortField } from '../../shared/sort-field.tsx'
import { messages } from '../../messages.ts'
import type { ActionKind, FileAction } from '../actions/file-action.ts'
import type { FileActionDialog } from '../actions/file-action-dialog.tsx'
import type { Entry } from './shown-entries.ts'
import { EmptyList } from './empty-list.tsx'
import { FileTable } from './file-table.tsx'
import type { FileViewProps } from './file-window.ts'
import { countOf } from '../folders/files-of.ts'
import { FolderBar } from '../folders/folder-bar.tsx'
import { NewFolderButton } from '../folders/new-folder-button.tsx'
import { useDragging } from '../moves/use-dragging.ts'
import type { Permissions } from '../permissions.ts'
import type { Page } from '../user-page.ts'
import { FilePickers, usePaste } from '../uploads/file-pickers.tsx'

const words = messages.files

/** Receives the focus when the user leaves the view that it opens. */
export const HISTORY_BUTTON = 'history'

interface OpenAction {
  readonly asked: FileAction
  readonly Dialog: typeof FileActionDialog
}

/** The list of files with search, sorting, uploads and actions. */
export function FileBrowser({ page }: { readonly page: Page }) {
  const { list, folders, history, uploads, permissions, selection, toasts, viewer } = page
  const { SelectionBar, UnfinishedList } = page
  const { may, mayUpload } = permissions
  const [action, setAction] = useState<OpenAction>()
  const picker = useRef<HTMLInputElement>(null)
  const region = useRef<HTMLElement>(null)
  useDragging(region, page)
  usePaste((files) => uploads.add(files))

  function act(kind: ActionKind, entry: Entry, at?: Point): void {
    // What offers to undo it, or the other view, would be below the viewer.
    if (kind === 'remove' || kind === 'history') viewer.close()
    if (kind === 'more') void toasts.attempt(() => ask({ kind, entry, at }))
    else if (typeof entry === 'string') void toasts.attempt(() => actOnFolder(kind, entry))
    else if (kind === 'open') void toasts.attempt(() => viewer.open(entry))
    else if (kind === 'remove') void page.removal.remove(entry)
    else if (kind === 'history') history.open(entry.name)
    else if (kind === 'stay') void toasts.attempt(() => askOfCurrent(kind, entry))
    else void toasts.attempt(() => ask({ kind, entry }))
  }

  /** Into the folder that is open when they are picked. */
  async function addPicked(picked: Promise<readonly GatheredFile[]>): Promise<void> {
    const into = list.path.value
    uploads.add(await picked, into)
  }

  async function actOnFolder(kind: ActionKind, folder: string): Promise<void> {
    if (kind === 'open') folders.open(folder)
    else if (kind === 'remove') {
      const { removeEntries } = await import('../folders/remove-entries.ts')
      await removeEntries(page, [folder])
    } else await ask({ kind, entry: folder })
  }

  /** Loads the dialogs when the first is opened, which most visits never do. */
  async function ask(asked: FileAction): Promise<void> {
    const { FileActionDialog: Dialog } = await import('../actions/file-action-dialog.tsx')
    setAction({ asked, Dialog })
  }

  /** Of a changed file, the list does not know all members. */
  async function askOfCurrent(kind: ActionKind, { name }: FileEntry): Promise<void> {
    const file = await list.find(name)
    if (file === undefined) list.drop(name)
    else await ask({ kind, entry: file })
  }

  return (
    <main class="files card" aria-label={words.title} ref={region}>
      <div class="toolbar file-tools">
        {may('read') && <Sought page={page} />}
        {may('read') && <LayoutButton page={page} />}
        {mayUpload() && <FilePickers picker={picker} onPicked={(files) => void addPicked(files)} />}
        {may('read') && may('create') && <NewFolderButton page={page} />}
        {may('history') && (
          <button
            type="button"
            id={HISTORY_BUTTON}
            class="button"
            aria-label={messages.history.title}
            title={messages.history.title}
            onClick={() => history.open()}
          >
            <Icon name="history" />
          </button>
        )}
        {selection.files.value.length > 0 && SelectionBar.value !== undefined && (
          <SelectionBar.value page={page} onAct={act} />
        )}
      </div>
      <p class="unseen" role="status">
        {selectionText(countOf(selection.files.value), list.hasMore.value)}
      </p>
      <PrefixNote permissions={permissions} />
      {may('read') && <FolderBar page={page} />}
      {UnfinishedList.value !== undefined && <UnfinishedList.value page={page} />}
      {may('read') ? (
        <Files page={page} onAct={act} onChoose={() => picker.current?.click()} />
      ) : (
        <div class="empty">
          <Icon name="lock" />
          <p>
            <strong>{messages.limits.unseen}</strong>
          </p>
        </div>
      )}
      {viewer.View.value !== undefined && viewer.file.value !== undefined && (
        <viewer.View.value
          page={page}
          file={viewer.file.value}
          onAct={act}
          onClose={() => viewer.close()}
        />
      )}
      {action !== undefined && (
        <action.Dialog
          page={page}
          action={action.asked}
          onAct={act}
          onClose={() => setAction(undefined)}
        />
      )}
    </main>
  )
}

/** For screen readers, also when the first file is selected. */
function selectionText(count: number, hasMore: boolean): string {
  const { selection } = messages
  return count === 0 ? '' : `${selection.count(count)}. ${hasMore ? selection.more : ''}`
}

interface FilesProps extends FileViewProps {
  readonly onChoose: () => void
}

function Files({ page, onAct, onChoose }: FilesProps) {
  const { list, layout } = page
  if (list.entries.value.length === 0) return <EmptyList page={page} onChoose={onChoose} />
  const { value: Grid } = layout.Grid
  if (!layout.isGrid.value) return <FileTable page={page} onAct={onAct} />
  // It is being loaded.
  return Grid === undefined ? <div class="table" /> : <Grid page={page} onAct={onAct} />
}

/** Shows the files as a grid, or as a list again. */
function LayoutButton({ page }: { readonly page: Page }) {
  const { layout, toasts } = page
  const isGrid = layout.isGrid.value
  const label = isGrid ? words.asList : words.asGrid

  return (
    <button
      type="button"
      class="button layout-button"
      aria-label={label}
      title={label}
      onClick={() => void toasts.attempt(() => layout.show(!isGrid))}
    >
      <Icon name={isGrid ? 'list' : 'grid'} />
    </button>
  )
}

function Sought({ page }: { readonly page: Page }) {
  const { list } = page
  return (
    <>
      <Search
        label={words.search}
        maxLength={1_024}
        initial={list.search.value}
        onSearch={(text) => void list.seek(text)}
      />
      <SortField
        label={words.sortBy}
        orders={words.orders}
        order={list.order.value}
        onSort={(order) => void list.sort(order)}
      />
    </>
  )
}

/** Says which files the token shows, and what it makes of the names of new ones. */
function PrefixNote({ permissions }: { readonly permissions: Permissions }) {
  const { may, mayUpload } = permissions
  const prefix = permissions.prefix()
  if (prefix === '') return null
  return (
    <p class="prefix-note quiet">
      {may('read') && messages.limits.shown(prefix)}{' '}
      {mayUpload() && messages.limits.uploaded(prefix)}
    </p>
  )
}
