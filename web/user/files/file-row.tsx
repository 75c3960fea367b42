import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatBytes } from '../../shared/format.ts'
import { Icon, type IconName } from '../../shared/icon.tsx'
import type { FileEntry, Visibility } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { FileAction } from './file-actions.tsx'
import type { RowAction } from './row-actions.ts'
import { kindOf } from '../../shared/file-kind.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'

const words = messages.files

export interface FileRowProps {
  readonly file: FileEntry
  readonly url: string
  /** From 0, in the whole list. */
  readonly index: number
  /** Whether the Tab key focuses this row. */
  readonly isCurrent: boolean
  /** What the token permits. */
  readonly actions: readonly RowAction[]
  readonly onFocus: () => void
  readonly onAct: (kind: FileAction['kind'], file: FileEntry) => void
}

/** One file. Its name is always rendered as text. */
export function FileRow(props: FileRowProps) {
  const { file, url, index, isCurrent, actions, onFocus, onAct } = props
  const { name, size, updated_at: changed, visibility } = file
  const tabIndex = isCurrent ? 0 : -1
  const kind = kindOf(name)
  const row = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(row.current), [index])

  function press(event: KeyboardEvent): void {
    const pressed = KEYS[event.key]
    if (pressed !== undefined && actions.includes(pressed)) onAct(pressed, file)
    else if (event.key !== 'Enter' || event.target !== event.currentTarget) return
    else document.getElementById(`download-${index}`)?.click()
    event.preventDefault()
  }

  return (
    <div
      ref={row}
      class="row"
      role="row"
      aria-rowindex={index + 2}
      tabIndex={tabIndex}
      onFocusIn={onFocus}
      onKeyDown={press}
    >
      <div class="cell cell-name" role="gridcell">
        <span class={`kind kind-${kind}`}>
          <Icon name={kind} />
        </span>
        <a
          id={`download-${index}`}
          class="name"
          href={url}
          download={name}
          tabIndex={tabIndex}
          title={visibleText(name)}
        >
          <ShownName name={name} />
        </a>
        {visibility !== 'private' && <Badge visibility={visibility} />}
      </div>
      <div class="cell cell-size" role="gridcell">
        {formatBytes(size)}
      </div>
      <div class="cell cell-updated_at" role="gridcell">
        <time dateTime={changed} title={words.wholeTime(changed)}>
          {words.time(changed)}
        </time>
      </div>
      <div class="cell cell-actions" role="gridcell">
        <a
          class="icon-button wide-only"
          href={url}
          download={name}
          tabIndex={tabIndex}
          aria-label={words.download(name)}
          title={words.actions.download}
        >
          <Icon name="download" />
        </a>
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            class="icon-button wide-only"
            tabIndex={tabIndex}
            aria-label={words[action](name)}
            title={words.actions[action]}
            onClick={() => onAct(action, file)}
          >
            <Icon name={action} />
          </button>
        ))}
        <button
          type="button"
          class="icon-button narrow-only"
          tabIndex={tabIndex}
          aria-label={words.more(name)}
          onClick={() => onAct('more', file)}
        >
          <Icon name="more" />
        </button>
      </div>
    </div>
  )
}

/**
 * Moves the focus from a row that is scrolled away to the list. Its elements may show another file next, which must not
 * receive keys that were meant for this one; and from the list, the Tab key reaches a visible row.
 */
function releaseFocus(row: HTMLElement | null): void {
  if (row?.contains(document.activeElement) !== true) return
  row.closest<HTMLElement>('[role=rowgroup]')?.focus({ preventScroll: true })
}

const KEYS: Readonly<Record<string, RowAction>> = { Delete: 'remove', F2: 'rename' }

const VISIBILITY_ICONS: Readonly<Record<Visibility, IconName>> = {
  private: 'lock',
  users: 'users',
  public: 'public',
}

function Badge({ visibility }: { readonly visibility: Visibility }) {
  return (
    <span class="badge">
      <Icon name={VISIBILITY_ICONS[visibility]} />
      {messages.visibility.names[visibility]}
    </span>
  )
}
