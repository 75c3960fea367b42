import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { ActionKind } from '../actions/file-action.ts'
import type { RowAction } from '../actions/row-actions.ts'

/**
 * Moves the focus from a file that is scrolled away to the list. Its elements may show another file next, which must not
 * receive keys that were meant for this one; and from the list, the Tab key reaches a visible file.
 */
export function releaseFocus(element: HTMLElement | null): void {
  if (element?.contains(document.activeElement) !== true) return
  element.closest<HTMLElement>('.rows-all')?.focus({ preventScroll: true })
}

/** Of a folder or a file. */
export interface ItemProps {
  /** From 0, in the whole list. */
  readonly index: number
  /** Whether the Tab key focuses this one. */
  readonly isCurrent: boolean
  readonly isSelected: boolean
  readonly onFocus: () => void
}

export interface FileItemProps extends ItemProps {
  readonly file: FileEntry
  /** The open folder, whose name is not repeated. */
  readonly folder: string
  /** What the token permits. */
  readonly actions: readonly RowAction[]
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
}

/** Attributes of the element of a file: its place, the focus, clicks and keys. */
export function itemProps({ file, actions, onAct, ...props }: FileItemProps) {
  return entryProps(props, {
    open: () => onAct('open', file),
    press(event) {
      const kind = actionOf(event, actions)
      if (kind === undefined) return
      event.preventDefault()
      onAct(kind, file)
    },
  })
}

/** Attributes of the element of a folder. */
export function folderProps(props: ItemProps, open: () => void) {
  return entryProps(props, { open, press: () => undefined })
}

interface EntryActs {
  readonly open: () => void
  /** For all keys but those that open it. */
  readonly press: (event: KeyboardEvent) => void
}

function entryProps(
  { index, isCurrent, isSelected, onFocus }: ItemProps,
  { open, press }: EntryActs,
) {
  return {
    'data-index': index,
    'aria-selected': isSelected,
    tabIndex: isCurrent ? 0 : -1,
    onFocusIn: onFocus,
    onClick: (event: MouseEvent) => {
      if (isBackground(event)) open()
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter') press(event)
      // On one of its buttons, the key is for that.
      else if (event.target === event.currentTarget) {
        event.preventDefault()
        open()
      }
    },
  }
}

/** Attributes of the check box of a file or folder, which `useSelecting` hears of. */
export function pickProps({ isCurrent, isSelected }: ItemProps, name: string) {
  return {
    type: 'checkbox',
    class: 'pick',
    checked: isSelected,
    tabIndex: isCurrent ? 0 : -1,
    'aria-label': messages.selection.select(name),
  } as const
}

/** What a key does with the file that has the focus; `undefined` if nothing that the token permits. */
function actionOf(event: KeyboardEvent, permitted: readonly RowAction[]): RowAction | undefined {
  const action = KEYS[event.key]
  return action !== undefined && permitted.includes(action) ? action : undefined
}

const KEYS: Readonly<Record<string, RowAction>> = { Delete: 'remove', F2: 'rename' }

/** Whether a click on a file was on none of its buttons. */
function isBackground({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a, button') === null
}
