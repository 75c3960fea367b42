import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface RowWindow {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}

/** Extra rows rendered above and below the viewport. */
const MARGIN_ROWS = 8

const STEP_ROWS = 4

/** Tracks which of `count` rows of equal height are visible in a scroll region, which can mount and unmount. */
export function useRowWindow<E extends HTMLElement>(count: number, rowHeight: number) {
  const [region, setRegion] = useState<E | null>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = region
    if (element === null) return undefined
    const measure = (): void => {
      // In steps, so that most scrolling renders nothing.
      const step = rowHeight * STEP_ROWS
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
  const seen = Math.ceil(view.height / rowHeight) + STEP_ROWS
  const top = Math.floor(view.top / rowHeight)
  const first = Math.min(count, Math.max(0, top - MARGIN_ROWS))
  const end = Math.min(count, top + seen + MARGIN_ROWS)
  const keyOf = useKeys({ first, end })
  const visible: RowWindow = { first: Math.min(count, top), end: Math.min(count, top + seen) }
  return { region, setRegion, keyOf, window: { first, end } satisfies RowWindow, visible }
}

/**
 * Keys with which a row that stays visible keeps its elements. After a jump that keeps few rows, all elements are
 * reused in place: updating elements costs the browser far less than creating or moving them.
 */
function useKeys({ first, end }: RowWindow): (row: number) => number {
  const last = useRef({ first, shift: 0 })
  const { current } = last
  const moved = first - current.first
  if (Math.abs(moved) > (end - first) / 2) current.shift -= moved
  current.first = first
  const { shift } = current
  return (row) => row + shift
}
