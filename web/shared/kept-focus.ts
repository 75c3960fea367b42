import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Moves the focus to what `next` returns when the element that has it is removed from `region`, or `region` itself from
 * the page. Otherwise, the browser resets the focus to the top of the page.
 */
export function useKeptFocus(
  region: RefObject<HTMLElement>,
  next: () => HTMLElement | null | undefined,
): void {
  const isWithin = (): boolean => region.current?.contains(document.activeElement) === true
  const keep = (): void => {
    if (document.activeElement === document.body) next()?.focus()
  }

  const wasWithin = isWithin()
  useLayoutEffect(() => {
    if (wasWithin) keep()
  })
  useLayoutEffect(
    () => () => {
      // What follows is not there yet.
      if (isWithin()) requestAnimationFrame(keep)
    },
    [],
  )
}

/** The folder or file of the list that the Tab key reaches. */
export function currentEntry(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[data-index][tabindex="0"]')
}
