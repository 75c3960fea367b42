import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../shared/error-message.ts'
import { Icon } from '../../shared/icon.tsx'
import type { FileEntry, Order } from '../../shared/model.ts'
import { Search } from '../../shared/search.tsx'
import { messages } from '../../messages.ts'
import type { ActionKind, FileAction, FileActionDialog } from './file-actions.tsx'
import { EmptyList } from './empty-list.tsx'
import { FileTable } from './file-table.tsx'
import type { FileViewProps } from './file-window.ts'
import { FolderBar } from './folder-bar.tsx'
import type { Permissions } from '../permissions.ts'
import type { Page } from '../user-page.ts'
import { UnfinishedList } from '../uploads/unfinished-list.tsx'
import type { GatheredFile } from '../uploads/upload-item.ts'

const words = messages.files

const ORDERS = Object.entries(words.orders) as [Order, string][]

/** Receives the focus when the user leaves the view that it opens. */
export const HISTORY_BUTTON = 'history'

interface OpenAction {
  readonly asked: FileAction
  readonly Dialog: typeof FileActionDialog
}

/** The list of files with search, sorting, uploads and actions. */
export function FileBrowser({ page }: { readonly page: Page }) {
  const { list, history, uploads, permissions, selection, SelectionBar, viewer } = page
  const { may, mayUpload } = permissions
  const [action, setAction] = useState<OpenAction>()
  const picker = useRef<HTMLInputElement>(null)
  usePaste((files) => uploads.add(files))

  function act(kind: ActionKind, file: FileEntry): void {
    if (kind === 'open') void openViewer(file)
    else if (kind === 'remove') void page.removal.remove(file)
    else if (kind === 'history') history.open(file.name)
    else if (kind === 'stay') void actOnCurrent(kind, file)
    else void ask({ kind, file })
  }

  /** Loads the dialogs when the first is opened, which most visits never do. */
  async function ask(asked: FileAction): Promise<void> {
    try {
      const { FileActionDialog: Dialog } = await import('./file-actions.tsx')
      setAction({ asked, Dialog })
    } catch (error) {
      page.toasts.show(messages.failed(messageOf(error)))
    }
  }

  async function openViewer(file: FileEntry): Promise<void> {
    try {
      await viewer.open(file)
    } catch (error) {
      page.toasts.show(messages.failed(messageOf(error)))
    }
  }

  /** Of a changed file, the list does not know all members. */
  async function actOnCurrent(kind: ActionKind, { name }: FileEntry): Promise<void> {
    try {
      const file = await list.find(name)
      if (file === undefined) list.drop(name)
      else await ask({ kind, file })
    } catch (error) {
      page.toasts.show(messages.failed(messageOf(error)))
    }
  }

  return (
    <main class="files card" aria-label={words.title}>
      <div class="toolbar">
        {may('read') && <Sought page={page} />}
        {may('read') && <LayoutButton page={page} />}
        {mayUpload() && <Pickers picker={picker} onPicked={(files) => uploads.add(files)} />}
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
        {selectionText(selection.files.value.length, list.hasMore.value)}
      </p>
      <PrefixNote permissions={permissions} />
      {may('read') && <FolderBar page={page} />}
      <UnfinishedList page={page} />
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
        <viewer.View.value page={page} file={viewer.file.value} onClose={() => viewer.close()} />
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

  async function change(): Promise<void> {
    try {
      await layout.show(!isGrid)
    } catch (error) {
      toasts.show(messages.failed(messageOf(error)))
    }
  }

  return (
    <button
      type="button"
      class="button layout-button"
      aria-label={label}
      title={label}
      onClick={() => void change()}
    >
      <Icon name={isGrid ? 'list' : 'grid'} />
    </button>
  )
}

function Sought({ page }: { readonly page: Page }) {
  const { list } = page
  // A refused token is handled by the session.
  const sort = (order: Order): void => void list.sort(order).catch(() => undefined)
  return (
    <>
      <Search
        label={words.search}
        maxLength={255}
        initial={list.search.value}
        onSearch={(text) => void list.seek(text).catch(() => undefined)}
      />
      <label class="sort">
        <span class="unseen">{words.sortBy}</span>
        <select
          class="field"
          value={list.order.value}
          onChange={(event) => sort(event.currentTarget.value as Order)}
        >
          {ORDERS.map(([order, label]) => (
            <option key={order} value={order}>
              {label}
            </option>
          ))}
        </select>
      </label>
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

interface PickersProps {
  /** Receives the input that chooses files. */
  readonly picker: RefObject<HTMLInputElement>
  readonly onPicked: (files: readonly GatheredFile[]) => void
}

function Pickers({ picker: files, onPicked }: PickersProps) {
  const folder = useRef<HTMLInputElement>(null)

  function take(input: HTMLInputElement): void {
    const picked = [...(input.files ?? [])]
    onPicked(
      picked.map((content) => ({ content, path: content.webkitRelativePath || content.name })),
    )
    // Lets the user choose the same file again.
    input.value = ''
  }

  const common = { type: 'file', multiple: true, hidden: true, tabIndex: -1 } as const
  return (
    <div class="pickers">
      <button type="button" class="button button-main" onClick={() => files.current?.click()}>
        <Icon name="upload" />
        <span>{words.upload}</span>
      </button>
      <button
        type="button"
        class="button"
        aria-label={words.uploadFolder}
        title={words.uploadFolder}
        onClick={() => folder.current?.click()}
      >
        <Icon name="uploadFolder" />
      </button>
      <input
        {...common}
        ref={files}
        data-picker="files"
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        {...common}
        ref={(input) => {
          folder.current = input
          if (input !== null) input.webkitdirectory = true
        }}
        data-picker="folder"
        onChange={(event) => take(event.currentTarget)}
      />
    </div>
  )
}

/** Uploads files that are pasted outside of form fields. A pasted screenshot has no name of its own. */
function usePaste(onPasted: (files: readonly GatheredFile[]) => void): void {
  const latest = useRef(onPasted)
  latest.current = onPasted
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || event.target instanceof HTMLInputElement) return
      event.preventDefault()
      latest.current(files.map((content) => ({ content, path: pastedName(content) })))
    }
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [])
}

function pastedName({ name }: File): string {
  const [, extension] = /^image(\.\w+)$/.exec(name) ?? []
  return extension === undefined ? name : messages.uploads.pasted(new Date(), extension)
}
