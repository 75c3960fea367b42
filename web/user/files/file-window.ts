import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type RowSizes, useRowWindow } from '../../shared/virtual-rows.ts'
import { useActionMenu } from '../actions/use-action-menu.ts'
import { useSelecting } from '../selection/select-files.ts'
import type { Page } from '../user-page.ts'
import type { Act, ActionKind } from '../actions/file-action.ts'
import type { FileList } from './file-list.ts'
import { asFile, type Entry, nameOf } from './shown-entries.ts'

/** What a view of the files has in common with the others. */
export interface FileViewProps {
  readonly page: Page
  readonly onAct: Act
}

export interface FileWindowOptions extends FileViewProps {
  readonly sizes: RowSizes
  /** Entries in a row. */
  readonly columns: number
  /** Pixels above the first row, of what stays visible when the rows are scrolled. */
  readonly headHeight: number
}

/** The next page is read when fewer entries are left beyond the rendered ones. */
const AHEAD_ENTRIES = 200

/**
 * Folders and files as rows of which only the visible ones are rendered. Arrow keys, Page Up, Page Down, Home and End move
 * between the elements with `data-index`; End and Home read that end of the list first. With Shift, these keys select the
 * files up to there, and all of the list is read for that. Space selects one.
 */
export function useFileWindow(options: FileWindowOptions) {
  const { page, onAct, sizes, columns, headHeight } = options
  const { list, selection } = page
  const entries = list.entries.value
  const selecting = useSelecting(page)
  const menu = useActionMenu(page, onAct)
  const rows = useRowWindow<HTMLDivElement>(Math.ceil(entries.length / columns), sizes)
  const { region, measure, window, visible } = rows
  const [current, setCurrent] = useState(0)
  // The Tab key focuses a visible entry: a long way back to the current one could reuse its elements for another.
  const lastSeen = Math.min(visible.end * columns, entries.length) - 1
  const active = Math.max(visible.first * columns, Math.min(current, lastSeen))
  const { isFromEnd } = list.view.value
  const left = isFromEnd ? window.first * columns : entries.length - window.end * columns
  const isNearEnd = left <= AHEAD_ENTRIES
  useEffect(() => {
    // The rendered rows are not yet those that entries put before them have moved away.
    const above = ((region?.scrollTop ?? 0) / sizes.height) * columns
    const isNear = isNearEnd && (!isFromEnd || above <= 2 * AHEAD_ENTRIES)
    if (isNear && list.hasMore.value) void list.loadMore()
    // Depends on the list itself: a list in another order can have the same length.
  }, [isNearEnd, entries])
  const { height } = sizes
  useStablePlace({ list, region, columns, height, active, show, scrollTo })

  function scrollTo(index: number): void {
    setCurrent(index)
    const { height } = sizes
    const top = Math.floor(index / columns) * height
    if (region !== null) reveal(region, { top, bottom: top + headHeight + height })
    measure()
  }

  function show(index: number): void {
    scrollTo(index)
    requestAnimationFrame(() => focusEntry(region, index))
  }

  /** Moves to an entry, and selects the files on the way with Shift. */
  function go(index: number, { shiftKey }: KeyboardEvent): void {
    const to = asFile(list.entries.value[index])
    if (shiftKey && to !== undefined) selection.extend(to, asFile(entries[active]) ?? to)
    show(index)
  }

  async function jump(to: 'start' | 'end', event: KeyboardEvent): Promise<void> {
    await (event.shiftKey ? list.loadAll() : list.jump(to))
    // The user may have gone elsewhere meanwhile.
    if (region?.contains(document.activeElement) !== true) return
    requestAnimationFrame(() => go(to === 'end' ? list.entries.value.length - 1 : 0, event))
  }

  function move(event: KeyboardEvent): void {
    const rowsShown = Math.floor((region?.clientHeight ?? 0) / sizes.height)
    const isMirrored = region !== null && getComputedStyle(region).direction === 'rtl'
    const step = stepOf(event.key, { columns, rowsShown, isMirrored })
    if (!(event.target instanceof HTMLElement)) return
    const entry = entries[active]
    if (event.key === ' ' && entry !== undefined && event.target.matches('[data-index]')) {
      event.preventDefault()
      selection.toggle(entry)
    }
    if (step === undefined || event.target.closest('[data-index]') === null) return
    event.preventDefault()
    const isBeyond = list.hasMore.value && event.key === (isFromEnd ? 'Home' : 'End')
    if (isBeyond) void jump(isFromEnd ? 'start' : 'end', event)
    else go(Math.max(0, Math.min(entries.length - 1, active + step)), event)
  }

  function act(kind: ActionKind, entry: Entry): void {
    onAct(kind, entry)
    // Removing the focused file would reset the focus to the top of the page.
    if (kind !== 'remove') return
    const next = (): number => Math.min(active, list.entries.value.length - 1)
    requestAnimationFrame(() => focusEntry(region, next()))
  }

  /** Attributes of the element that contains the entries. */
  const grid = {
    class: selection.files.value.length > 0 ? 'table selecting' : 'table',
    role: 'grid',
    'aria-multiselectable': true,
    onKeyDown: move,
    ...selecting,
    ...menu,
  } as const
  return { ...rows, entries, active, setCurrent, grid, act }
}

interface PlaceOptions {
  readonly list: FileList
  readonly region: HTMLElement | null
  readonly columns: number
  readonly height: number
  readonly active: number
  /** Scrolls to an entry and focuses it. */
  readonly show: (index: number) => void
  readonly scrollTo: (index: number) => void
}

/**
 * Keeps the rows where they are when a page puts entries before them. In another folder, begins at the top; in one around
 * the last folder, at that one. Follows the entry that has the focus to another place of the list: its element
 * shows another one there, which must not receive keys that were meant for this one.
 */
function useStablePlace(options: PlaceOptions): void {
  const { list, region, columns, height, active, show, scrollTo } = options
  const { folder, search } = list.view.value
  const putBefore = list.putBefore.value
  const entries = list.entries.value
  const destination = list.destination.value
  const last = useRef({ folder, search, putBefore, entries, active })
  // Asked before the elements show other entries, which takes the focus from them.
  const isFocused = (region?.querySelector('[data-index]:focus-within') ?? null) !== null
  const goTo = isFocused ? show : scrollTo
  useLayoutEffect(() => {
    const before = last.current
    last.current = { folder, search, putBefore, entries, active }
    if (region === null) return
    const arrived = entries.findIndex((entry) => nameOf(entry) === destination)
    if (arrived !== -1) {
      list.destination.value = undefined
      show(arrived)
    } else if (folder !== before.folder || search !== before.search) {
      goTo(
        Math.max(
          0,
          entries.findIndex((entry) => isAround(entry, before.folder)),
        ),
      )
    } else if (putBefore > before.putBefore && region.scrollTop > 0) {
      const index = active + putBefore - before.putBefore
      region.scrollTop += (Math.floor(index / columns) - Math.floor(active / columns)) * height
      goTo(index)
    } else if (isFocused && entries !== before.entries) {
      const entry = before.entries[before.active]
      const index = entries.findIndex((other) => isSame(entry, other))
      // Of what is gone, the element can be gone too.
      if (index !== active) show(index === -1 ? active : index)
    }
  }, [folder, search, putBefore, entries, active, destination])
}

/** A rename keeps the etag, and an overwrite the name. */
function isSame(one: Entry | undefined, other: Entry): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other
  return one.etag === other.etag || one.name === other.name
}

function isAround(entry: Entry, folder: string): boolean {
  return typeof entry === 'string' && folder.startsWith(entry)
}

interface Layout {
  readonly columns: number
  readonly rowsShown: number
  /** Whether the first column is the rightmost one. */
  readonly isMirrored: boolean
}

/** By how many entries a key moves. */
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

function focusEntry(region: HTMLElement | null, index: number): void {
  region?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus()
}
