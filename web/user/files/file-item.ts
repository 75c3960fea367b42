import { firstClick } from '../../shared/first-click.ts'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Act } from '../actions/file-action.ts'
import type { RowAction } from '../actions/row-actions.ts'
import type { Entry } from './shown-entries.ts'

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
  /** What the token permits. */
  readonly actions: readonly RowAction[]
  readonly onFocus: () => void
  readonly onAct: Act
}

export interface FileItemProps extends ItemProps {
  readonly file: FileEntry
  /** The open folder, whose name is not repeated. */
  readonly folder: string
}

/** Attributes of the element of a folder or a file: its place, the focus, clicks and keys. */
export function itemProps(
  { index, isCurrent, isSelected, actions, onFocus, onAct }: ItemProps,
  entry: Entry,
) {
  const open = (): void => onAct('open', entry)
  const openFirst = firstClick(open)

  function press(event: KeyboardEvent): void {
    const kind = actionOf(event, actions)
    if (kind === undefined) return
    event.preventDefault()
    onAct(kind, entry)
  }

  return {
    'data-index': index,
    'data-folder': typeof entry === 'string' ? entry : undefined,
    'aria-selected': isSelected,
    tabIndex: isCurrent ? 0 : -1,
    draggable: actions.includes('move') && canDrag(),
    onFocusIn: onFocus,
    onClick: (event: MouseEvent) => {
      if (isBackground(event)) openFirst(event)
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

/** A finger that is held on a file selects it. */
function canDrag(): boolean {
  return !matchMedia('(pointer: coarse)').matches
}

/** Whether a click on a file was on none of its buttons. */
function isBackground({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a, button') === null
}
