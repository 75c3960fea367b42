import { useLayoutEffect, useState } from 'preact/hooks'

export interface RowWindow {
  readonly first: number
  /** Behind the last one. */
  readonly end: number
}

/** Rows that are drawn beyond what is seen, on either side. */
const MARGIN_ROWS = 8

/** Follows which of `count` rows of one height can be seen in a region that scrolls, which may come and go. */
export function useRowWindow<E extends HTMLElement>(count: number, rowHeight: number) {
  const [region, setRegion] = useState<E | null>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = region
    if (element === null) return undefined
    const measure = (): void => {
      // In steps, so that most movements draw nothing anew.
      const step = rowHeight * (MARGIN_ROWS / 2)
      const top = Math.floor(element.scrollTop / step) * step
      const height = element.clientHeight
      setView((old) => (old.top === top && old.height === height ? old : { top, height }))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [region, rowHeight])
  // As many as can be drawn at most, so that a row that comes takes what is left of one that goes.
  const slots = Math.ceil(view.height / rowHeight) + 3 * MARGIN_ROWS
  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN_ROWS)
  const seen = Math.ceil(view.height / rowHeight) + MARGIN_ROWS / 2
  const end = Math.min(count, Math.floor(view.top / rowHeight) + seen + MARGIN_ROWS)
  return {
    region,
    setRegion,
    slots,
    window: { first: Math.min(first, count), end } satisfies RowWindow,
  }
}
