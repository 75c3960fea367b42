import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface RowWindow {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}

export interface RowSizes {
  /** In pixels. */
  readonly height: number
  /** Extra rows rendered above and below the viewport. */
  readonly margin?: number
  /** Scrolling by fewer rows renders nothing. */
  readonly step?: number
}

/**
 * Tracks which of `count` rows of equal height are visible in a scroll region, which can mount and unmount. Call `measure`
 * after the region was scrolled by a script: the browser tells of it only with its next frame.
 */
export function useRowWindow<E extends HTMLElement>(
  count: number,
  { height: rowHeight, margin = 8, step = 4 }: RowSizes,
) {
  const [region, setRegion] = useState<E | null>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const measure = useCallback((): void => {
    if (region === null) return
    const rows = rowHeight * step
    const top = Math.floor(region.scrollTop / rows) * rows
    const height = region.clientHeight
    setView((old) => (old.top === top && old.height === height ? old : { top, height }))
  }, [region, rowHeight, step])
  useLayoutEffect(() => {
    if (region === null) return undefined
    const observer = new ResizeObserver(measure)
    observer.observe(region)
    region.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      region.removeEventListener('scroll', measure)
    }
  }, [region, measure])
  const seen = Math.ceil(view.height / rowHeight) + step
  const top = Math.floor(view.top / rowHeight)
  const first = Math.min(count, Math.max(0, top - margin))
  const end = Math.min(count, top + seen + margin)
  const keyOf = useKeys({ first, end })
  const visible: RowWindow = { first: Math.min(count, top), end: Math.min(count, top + seen) }
  return { region, setRegion, measure, keyOf, window: { first, end } satisfies RowWindow, visible }
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
