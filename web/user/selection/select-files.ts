import './pick.css'
import { useEffect, useRef } from 'preact/hooks'
import type { Entry } from '../files/shown-entries.ts'
import type { Page } from '../user-page.ts'

/** As long as a finger rests on a file to select it. */
const HOLD_MS = 500

/** A finger that moves farther than this scrolls. */
const HOLD_PX = 10

interface Hold {
  readonly x: number
  readonly y: number
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Handlers, of the element that contains the files, for clicks with Ctrl or Shift, for a long press, for all clicks
 * while files are selected, and for check boxes. Ctrl+A selects the files and folders of the list.
 */
export function useSelecting({ list, selection }: Page) {
  const hold = useRef<Hold>()
  /** A click follows the long press, which it belongs to. */
  const wasHeld = useRef(false)

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'a' || !(event.ctrlKey || event.metaKey)) return
      if (isElsewhere(event.target)) return
      event.preventDefault()
      selection.addAll()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => {
      document.removeEventListener('keydown', onKeyDown)
      release()
    }
  }, [])

  function entryOf(item: HTMLElement | null): Entry | undefined {
    return list.entries.value[Number(item?.dataset['index'])]
  }

  function release(): void {
    clearTimeout(hold.current?.timer)
    hold.current = undefined
  }

  return {
    onClickCapture(event: MouseEvent) {
      const item = itemOf(event)
      const entry = entryOf(item)
      if (item === null || entry === undefined || !selects(event)) return
      event.stopPropagation()
      // The browser checks a check box itself.
      if (!isOn(event, BOX)) event.preventDefault()
      if (wasHeld.current) wasHeld.current = false
      else if (event.shiftKey && typeof entry !== 'string') selection.extend(entry)
      else selection.toggle(entry)
      // What was kept from selecting text has not moved the focus.
      if (event.shiftKey) item.focus({ preventScroll: true })
    },

    onMouseDown(event: MouseEvent) {
      // Otherwise the browser selects the text between two clicks.
      if (event.shiftKey && itemOf(event) !== null) event.preventDefault()
    },

    onPointerDown(event: PointerEvent) {
      release()
      wasHeld.current = false
      const entry = entryOf(itemOf(event))
      if (event.pointerType === 'mouse' || entry === undefined || isOn(event, CONTROLS)) return
      const timer = setTimeout(() => {
        wasHeld.current = true
        if (!selection.has(entry)) selection.toggle(entry)
      }, HOLD_MS)
      hold.current = { timer, x: event.clientX, y: event.clientY }
    },

    onPointerMove({ clientX, clientY }: PointerEvent) {
      const { x, y } = hold.current ?? { x: clientX, y: clientY }
      if (Math.hypot(clientX - x, clientY - y) > HOLD_PX) release()
    },

    onPointerUp: release,
    onPointerCancel: release,

    onContextMenu(event: MouseEvent) {
      // Of a long press.
      if (hold.current !== undefined) event.preventDefault()
    },
  }

  function selects(event: MouseEvent): boolean {
    if (isOn(event, BOX)) return true
    if (isOn(event, BUTTONS)) return false
    if (wasHeld.current || event.ctrlKey || event.metaKey || event.shiftKey) return true
    // Enter on a name opens the file all the same.
    return selection.files.value.length > 0 && event.detail > 0
  }
}

const BOX = '.pick'

/** What a click on it does is its own. */
const BUTTONS = 'a, button:not(.name)'

const CONTROLS = `${BUTTONS}, ${BOX}`

function isOn({ target }: Event, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null
}

function itemOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
}

/** Whether a key is meant for a field or a dialog. */
export function isElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof Element && target.closest(`input:not(${BOX}), select, textarea`) !== null
}
