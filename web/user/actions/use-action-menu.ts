import { useEffect, useRef } from 'preact/hooks'
import type { Point } from '../../shared/dialog.tsx'
import type { Entry } from '../files/shown-entries.ts'
import { itemOf } from '../selection/select-files.ts'
import type { Page } from '../user-page.ts'
import type { Act } from './file-action.ts'

/** As long as a finger rests on a file to ask for its actions. */
const HOLD_MS = 500

/** A finger that moves farther than this scrolls. */
const HOLD_PX = 10

/**
 * Handlers, of the element that contains the files, for the right button, a long press, and the keys of the browser for
 * the context menu. They show the actions on the file or folder, or on the selection if that has it. The browser shows
 * its own menu for links and for selected text.
 */
export function useActionMenu({ list, selection, selectionMenu }: Page, onAct: Act) {
  const hold = useRef<Hold>()
  useEffect(() => release, [])

  function release(): void {
    clearTimeout(hold.current?.timer)
    hold.current = undefined
  }

  function entryAt(event: Event): Entry | undefined {
    const { target } = event
    if (target instanceof Element && target.closest('a, .icon-button') !== null) return undefined
    return list.entries.value[Number(itemOf(event)?.dataset['index'])]
  }

  function show(entry: Entry, at?: Point): void {
    if (selection.has(entry)) selectionMenu.value = { at }
    else onAct('more', entry, at)
  }

  return {
    onContextMenu(event: MouseEvent) {
      const entry = entryAt(event)
      if (entry === undefined || isTextSelected(event)) return
      event.preventDefault()
      // That of a long press comes before the end of the time, or after it.
      if (hold.current === undefined) show(entry, { x: event.clientX, y: event.clientY })
    },

    onPointerDown(event: PointerEvent) {
      release()
      const entry = entryAt(event)
      if (event.pointerType === 'mouse' || entry === undefined) return
      const timer = setTimeout(() => {
        ignoreNextClick()
        show(entry)
      }, HOLD_MS)
      hold.current = { timer, x: event.clientX, y: event.clientY }
    },

    onPointerMove({ clientX, clientY }: PointerEvent) {
      const { x, y } = hold.current ?? { x: clientX, y: clientY }
      if (Math.hypot(clientX - x, clientY - y) > HOLD_PX) release()
    },

    onPointerUp: release,
    onPointerCancel: release,
  }
}

interface Hold extends Point {
  readonly timer: ReturnType<typeof setTimeout>
}

/** A click follows the long press, which it belongs to. */
function ignoreNextClick(): void {
  const over = new AbortController()
  const { signal } = over
  const ignore = (event: Event): void => {
    event.preventDefault()
    event.stopPropagation()
    over.abort()
  }
  addEventListener('click', ignore, { capture: true, signal })
  addEventListener('pointerdown', () => over.abort(), { capture: true, signal })
}

function isTextSelected({ target }: Event): boolean {
  const selected = getSelection()
  return selected !== null && !selected.isCollapsed && selected.containsNode(target as Node, true)
}
