import './viewer.css'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { DownloadButton, IconButton } from '../../shared/icon-button.tsx'
import type { FileEntry } from '../../shared/model.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { messages } from '../../messages.ts'
import type { ActionKind } from '../actions/file-action.ts'
import { permittedActions } from '../actions/row-actions.ts'
import type { Page } from '../user-page.ts'
import { FileStage } from './file-stage.tsx'
import { words } from './words.ts'

/** The next page of the list is read when fewer files are left in its direction. */
const AHEAD_FILES = 20

interface ViewerProps {
  readonly page: Page
  /** The file that was opened. */
  readonly file: FileEntry
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
  readonly onClose: () => void
}

/** One file of the list, and the way to those before and after it. */
export function FileViewer({ page, file, onAct, onClose }: ViewerProps) {
  const { list, content, permissions } = page
  const dialog = useRef<HTMLDialogElement>(null)
  const files = list.files.value
  const [last, setLast] = useState({ file, index: files.indexOf(file) })
  const found = placeOf(last.file, files)
  // Of a file that was deleted, what has taken its place in the list.
  const index = found === -1 ? Math.min(last.index, files.length - 1) : found
  const shown: FileEntry | undefined = files[index]

  // Before the content is asked for, so that no key is lost.
  useLayoutEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    dialog.current?.focus()
    return () =>
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return
        if (opener instanceof HTMLElement) opener.focus()
      })
  }, [])
  // What had the focus may be gone, as the button to the next file at the last one. Outside of the dialog, keys do nothing.
  useLayoutEffect(() => {
    if (dialog.current?.contains(document.activeElement) === false) dialog.current.focus()
  })
  useEffect(() => {
    if (shown === undefined) onClose()
    else if (index !== last.index || shown !== last.file) setLast({ file: shown, index })
  }, [index, shown])
  const { isFromEnd } = list.view.value
  const left = isFromEnd ? index : files.length - index
  useEffect(() => {
    if (left <= AHEAD_FILES) void list.loadMore()
  }, [left, files])

  function show(at: number): void {
    const next = files[at]
    if (next !== undefined) setLast({ file: next, index: at })
  }

  async function showEnd(end: 'start' | 'end'): Promise<void> {
    await list.jump(end)
    const all = list.files.value
    const index = end === 'start' ? 0 : all.length - 1
    const file = all[index]
    if (file !== undefined) setLast({ file, index })
  }

  function press(event: KeyboardEvent): void {
    const isMirrored = getComputedStyle(event.currentTarget as Element).direction === 'rtl'
    const moves: Readonly<Record<string, () => unknown>> = {
      [isMirrored ? 'ArrowLeft' : 'ArrowRight']: () => show(index + 1),
      [isMirrored ? 'ArrowRight' : 'ArrowLeft']: () => show(index - 1),
      Home: () => showEnd('start'),
      End: () => showEnd('end'),
    }
    const move = moves[event.key]
    if (move === undefined || event.defaultPrevented || usesKeys(event.target)) return
    event.preventDefault()
    move()
  }

  if (shown === undefined) return null
  return (
    <dialog
      ref={dialog}
      class="viewer"
      aria-labelledby="viewer-name"
      tabIndex={-1}
      onClose={onClose}
      onKeyDown={press}
    >
      <header class="viewer-head">
        <IconButton icon="close" label={messages.close} onClick={() => dialog.current?.close()} />
        <div class="viewer-words">
          <h2 id="viewer-name">
            <ShownName name={shown.name} />
          </h2>
          <span class="viewer-place">
            {/* From the end, nobody knows how many come before. */}
            {(!isFromEnd || !list.hasMore.value) &&
              words.place(index + 1, files.length, list.hasMore.value)}
          </span>
        </div>
        <DownloadButton
          url={content.downloadUrlOf(shown)}
          name={shown.name}
          label={messages.files.download(shown.name)}
        />
        {permittedActions(permissions).length > 0 && (
          <IconButton
            class="viewer-more"
            icon="more"
            label={messages.files.more(shown.name)}
            onClick={() => onAct('more', shown)}
          />
        )}
      </header>
      <FileStage
        key={`${shown.etag} ${shown.name}`}
        file={shown}
        content={content}
        onPrevious={() => show(index - 1)}
        onNext={() => show(index + 1)}
      />
      {index > 0 && (
        <IconButton
          class="viewer-step viewer-previous"
          icon="left"
          label={words.previous}
          onClick={() => show(index - 1)}
        />
      )}
      {index < files.length - 1 && (
        <IconButton
          class="viewer-step viewer-next"
          icon="right"
          label={words.next}
          onClick={() => show(index + 1)}
        />
      )}
      <p class="unseen" role="status">
        {words.announce(shown.name)}
      </p>
    </dialog>
  )
}

/** A rename keeps the etag, and an overwrite the name. */
function placeOf(file: FileEntry, files: readonly FileEntry[]): number {
  const renamed = files.findIndex(({ etag }) => etag === file.etag)
  return renamed === -1 ? files.findIndex(({ name }) => name === file.name) : renamed
}

/** Players seek with the arrow keys, and texts scroll. */
function usesKeys(target: EventTarget | null): boolean {
  return target instanceof HTMLMediaElement || target instanceof HTMLPreElement
}
