import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../shared/error-message.ts'
import { Icon } from '../../shared/icon.tsx'
import type { FileEntry, Order } from '../../shared/model.ts'
import { Search } from '../../shared/search.tsx'
import { messages } from '../../messages.ts'
import { type FileAction, FileActionDialog } from './file-actions.tsx'
import { FileTable } from './file-table.tsx'
import type { Permissions } from '../permissions.ts'
import type { Page } from '../user-page.ts'
import { UnfinishedList } from '../uploads/unfinished-list.tsx'
import type { GatheredFile } from '../uploads/upload-item.ts'

const words = messages.files

const ORDERS = Object.entries(words.orders) as [Order, string][]

/** Receives the focus when the user leaves the view that it opens. */
export const HISTORY_BUTTON = 'history'

/** The list of files with search, sorting, uploads and actions. */
export function FileBrowser({ page }: { readonly page: Page }) {
  const { list, history, uploads, permissions } = page
  const { may, mayUpload } = permissions
  const [action, setAction] = useState<FileAction>()
  usePaste((files) => uploads.add(files))

  function act(kind: FileAction['kind'], file: FileEntry): void {
    if (kind === 'remove') void page.remove(file)
    else if (kind === 'history') history.open(file.name)
    else if (kind === 'stay') void actOnCurrent(kind, file)
    else setAction({ kind, file })
  }

  /** Of a changed file, the list does not know all members. */
  async function actOnCurrent(kind: FileAction['kind'], { name }: FileEntry): Promise<void> {
    try {
      const file = await list.find(name)
      if (file === undefined) list.drop(name)
      else setAction({ kind, file })
    } catch (error) {
      page.toasts.show(messages.failed(messageOf(error)))
    }
  }

  return (
    <main class="files card" aria-label={words.title}>
      <div class="toolbar">
        {may('read') && <Sought page={page} />}
        {mayUpload() && <Pickers onPicked={(files) => uploads.add(files)} />}
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
      </div>
      <PrefixNote permissions={permissions} />
      <UnfinishedList page={page} />
      {may('read') ? (
        <FileTable page={page} onSort={(order) => sort(page, order)} onAct={act} />
      ) : (
        <div class="empty">
          <Icon name="lock" />
          <p>
            <strong>{messages.limits.unseen}</strong>
          </p>
        </div>
      )}
      {action !== undefined && (
        <FileActionDialog
          page={page}
          action={action}
          onAct={act}
          onClose={() => setAction(undefined)}
        />
      )}
    </main>
  )
}

function Sought({ page }: { readonly page: Page }) {
  const { list } = page
  return (
    <>
      <Search
        label={words.search}
        maxLength={255}
        initial={list.prefix.value}
        onSearch={(prefix) => search(page, prefix)}
      />
      <label class="sort">
        <span class="unseen">{words.sortBy}</span>
        <select
          class="field"
          value={list.order.value}
          onChange={(event) => sort(page, event.currentTarget.value as Order)}
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

function sort({ list }: Page, order: Order): void {
  list.order.value = order
  list.reload().catch(() => undefined)
}

function search({ list }: Page, prefix: string): void {
  list.prefix.value = prefix
  list.reload().catch(() => undefined)
}

function Pickers({ onPicked }: { readonly onPicked: (files: readonly GatheredFile[]) => void }) {
  const files = useRef<HTMLInputElement>(null)
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
        <Icon name="folder" />
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
