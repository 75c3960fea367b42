import { useEffect, useState } from 'preact/hooks'
import type { FileEntry } from '../../shared/model.ts'
import { type RowSizes, useRowWindow } from '../../shared/virtual-rows.ts'
import { useSelecting } from '../selection/select-files.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import type { ActionKind } from './file-actions.tsx'
import type { RowAction } from './row-actions.ts'

/** What a view of the files has in common with the others. */
export interface FileViewProps {
  readonly page: Page
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
}

export interface FileWindowOptions extends FileViewProps {
  readonly sizes: RowSizes
  /** Files in a row. */
  readonly columns: number
  /** Pixels above the first row, of what stays visible when the rows are scrolled. */
  readonly headHeight: number
}

/** The next page is read when fewer files are left below the rendered ones. */
const AHEAD_FILES = 200

/**
 * The files as rows of which only the visible ones are rendered. Arrow keys, Page Up, Page Down, Home and End move between
 * the elements with `data-index`; End reads the rest of the list first. With Shift, these keys select the files up to there.
 * Space selects one.
 */
export function useFileWindow({ page, onAct, sizes, columns, headHeight }: FileWindowOptions) {
  const { list, selection } = page
  const files = list.files.value
  const selecting = useSelecting(page)
  const rows = useRowWindow<HTMLDivElement>(Math.ceil(files.length / columns), sizes)
  const { region, window, visible } = rows
  const [current, setCurrent] = useState(0)
  // The Tab key focuses a visible file: a long way back to the current one could reuse its elements for another file.
  const lastSeen = Math.min(visible.end * columns, files.length) - 1
  const active = Math.max(visible.first * columns, Math.min(current, lastSeen))
  const isNearEnd = window.end * columns + AHEAD_FILES >= files.length
  useEffect(() => {
    // A refused token is handled by the session.
    if (isNearEnd && list.hasMore.value) list.loadMore().catch(() => undefined)
    // Depends on the list itself: a list in another order can have the same length.
  }, [isNearEnd, files])

  function show(index: number): void {
    setCurrent(index)
    const { height } = sizes
    const top = Math.floor(index / columns) * height
    if (region !== null) reveal(region, { top, bottom: top + headHeight + height })
    requestAnimationFrame(() => focusFile(region, index))
  }

  /** Moves to a file, and selects those on the way with Shift. */
  function go(index: number, { shiftKey }: KeyboardEvent): void {
    const to = list.files.value[index]
    if (shiftKey && to !== undefined) selection.extend(to, files[active])
    show(index)
  }

  async function goToLast(event: KeyboardEvent): Promise<void> {
    await list.loadAll().catch(() => undefined)
    // The user may have gone elsewhere meanwhile.
    if (region?.contains(document.activeElement) !== true) return
    requestAnimationFrame(() => go(list.files.value.length - 1, event))
  }

  function move(event: KeyboardEvent): void {
    const rowsShown = Math.floor((region?.clientHeight ?? 0) / sizes.height)
    const isMirrored = region !== null && getComputedStyle(region).direction === 'rtl'
    const step = stepOf(event.key, { columns, rowsShown, isMirrored })
    if (!(event.target instanceof HTMLElement)) return
    const file = files[active]
    if (event.key === ' ' && file !== undefined && event.target.matches('[data-index]')) {
      event.preventDefault()
      selection.toggle(file)
    }
    if (step === undefined || event.target.closest('[data-index]') === null) return
    event.preventDefault()
    if (event.key === 'End' && list.hasMore.value) void goToLast(event)
    else go(Math.max(0, Math.min(files.length - 1, active + step)), event)
  }

  function act(kind: ActionKind, file: FileEntry): void {
    onAct(kind, file)
    // Removing the focused file would reset the focus to the top of the page.
    if (kind !== 'remove') return
    requestAnimationFrame(() => focusFile(region, Math.min(active, list.files.value.length - 1)))
  }

  /** Attributes of the element that contains the files. */
  const grid = {
    class: selection.files.value.length > 0 ? 'table selecting' : 'table',
    role: 'grid',
    'aria-multiselectable': true,
    onKeyDown: move,
    ...selecting,
  } as const
  return { ...rows, files, active, setCurrent, grid, act }
}

interface Layout {
  readonly columns: number
  readonly rowsShown: number
  /** Whether the first column is the rightmost one. */
  readonly isMirrored: boolean
}

/** By how many files a key moves. */
function stepOf(key: string, { columns, rowsShown, isMirrored }: Layout): number | undefined {
  const page = Math.max(1, rowsShown - 1) * columns
  const aside = isMirrored ? -1 : 1
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
    ...(columns > 1 && { ArrowRight: aside, ArrowLeft: -aside }),
  }
  return steps[key]
}

function reveal(
  region: HTMLElement,
  { top, bottom }: { readonly top: number; readonly bottom: number },
): void {
  if (region.scrollTop > top) region.scrollTop = top
  else if (region.scrollTop < bottom - region.clientHeight) {
    region.scrollTop = bottom - region.clientHeight
  }
}

function focusFile(region: HTMLElement | null, index: number): void {
  region?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus()
}

/**
 * Moves the focus from a file that is scrolled away to the list. Its elements may show another file next, which must not
 * receive keys that were meant for this one; and from the list, the Tab key reaches a visible file.
 */
export function releaseFocus(element: HTMLElement | null): void {
  if (element?.contains(document.activeElement) !== true) return
  element.closest<HTMLElement>('.rows-all')?.focus({ preventScroll: true })
}

export interface FileItemProps {
  readonly file: FileEntry
  /** From 0, in the whole list. */
  readonly index: number
  /** Whether the Tab key focuses this file. */
  readonly isCurrent: boolean
  readonly isSelected: boolean
  /** What the token permits. */
  readonly actions: readonly RowAction[]
  readonly onFocus: () => void
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
}

/** Attributes of the element of a file: its place, the focus, clicks and keys. */
export function itemProps(props: FileItemProps) {
  const { file, index, isCurrent, isSelected, actions, onFocus, onAct } = props
  return {
    'data-index': index,
    'aria-selected': isSelected,
    tabIndex: isCurrent ? 0 : -1,
    onFocusIn: onFocus,
    onClick: (event: MouseEvent) => {
      if (isBackground(event)) onAct('open', file)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const kind = actionOf(event, actions)
      if (kind === undefined) return
      event.preventDefault()
      onAct(kind, file)
    },
  }
}

/** Attributes of the check box of a file, which `useSelecting` hears of. */
export function pickProps({ file, isCurrent, isSelected }: FileItemProps) {
  return {
    type: 'checkbox',
    class: 'pick',
    checked: isSelected,
    tabIndex: isCurrent ? 0 : -1,
    'aria-label': messages.selection.select(file.name),
  } as const
}

/** What a key does with the file that has the focus; `undefined` if nothing that the token permits. */
function actionOf(event: KeyboardEvent, permitted: readonly RowAction[]): ActionKind | undefined {
  if (event.key === 'Enter') return event.target === event.currentTarget ? 'open' : undefined
  const action = KEYS[event.key]
  return action !== undefined && permitted.includes(action) ? action : undefined
}

const KEYS: Readonly<Record<string, RowAction>> = { Delete: 'remove', F2: 'rename' }

/** Whether a click on a file was on none of its buttons. */
function isBackground({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a, button') === null
}
