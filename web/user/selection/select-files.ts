import './pick.css'
import { useEffect } from 'preact/hooks'
import type { Entry } from '../files/shown-entries.ts'
import type { Page } from '../user-page.ts'

/**
 * Handlers, of the element that contains the files, for clicks with Ctrl or Shift, for all clicks while files are
 * selected, and for check boxes. Ctrl+A selects the files and folders of the list.
 */
export function useSelecting({ list, selection }: Page) {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'a' || !(event.ctrlKey || event.metaKey)) return
      if (isElsewhere(event.target)) return
      event.preventDefault()
      selection.addAll()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])

  function entryOf(item: HTMLElement | null): Entry | undefined {
    return list.entries.value[Number(item?.dataset['index'])]
  }

  return {
    onClickCapture(event: MouseEvent) {
      const item = itemOf(event)
      const entry = entryOf(item)
      if (item === null || entry === undefined || !selects(event)) return
      event.stopPropagation()
      if (event.shiftKey && typeof entry !== 'string') selection.extend(entry)
      else selection.toggle(entry)
      // The browser has already changed a check box, also where nothing was selected.
      const box = event.target instanceof HTMLInputElement ? event.target : undefined
      if (box?.checked !== selection.has(entry)) event.preventDefault()
      // What was kept from selecting text has not moved the focus.
      if (event.shiftKey) item.focus({ preventScroll: true })
    },

    onMouseDown(event: MouseEvent) {
      // Otherwise the browser selects the text between two clicks.
      if (event.shiftKey && itemOf(event) !== null) event.preventDefault()
    },
  }

  function selects(event: MouseEvent): boolean {
    if (isOn(event, BOX)) return true
    if (isOn(event, BUTTONS)) return false
    if (event.ctrlKey || event.metaKey || event.shiftKey) return true
    // Enter on a name opens the file all the same.
    return selection.files.value.length > 0 && event.detail > 0
  }
}

const BOX = '.pick'

/** What a click on it does is its own. */
const BUTTONS = 'a, button:not(.name)'

function isOn({ target }: Event, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null
}

export function itemOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
}

/** Whether a key is meant for a field or a dialog. */
export function isElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof Element && target.closest(`input:not(${BOX}), select, textarea`) !== null
}
