import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import { moveBy, type Point, WHOLE, type Zoom, zoomAt } from './zoom.ts'

export interface ImageViewProps {
  readonly url: string
  readonly name: string
  readonly onFail: () => void
  readonly onPrevious: () => void
  readonly onNext: () => void
}

/** A swipe of an image that is not magnified goes to the next one after that many pixels. */
const SWIPE_PIXELS = 60

const DOUBLE_TAP_MS = 300
const DOUBLE_TAP_PIXELS = 30

/** A finger or the pointer that has moved less has tapped. */
const TAP_PIXELS = 8

const CLOSER = 2.5
const KEY_STEP = 1.4
const KEY_PIXELS = 80

const STAGE = 'viewer-stage viewer-image'

/** An image, magnified by the wheel, by two fingers, by a double tap, or by + and -; and moved, or swiped away. */
export function ImageView({ url, name, onFail, onPrevious, onNext }: ImageViewProps) {
  const [isLoading, setLoading] = useState(true)
  const [zoom, setZoom] = useState(WHOLE)
  const [swiped, setSwiped] = useState(0)
  const stage = useRef<HTMLDivElement>(null)
  const image = useRef<HTMLImageElement>(null)
  const touching = useRef(new Map<number, Point>())
  const gesture = useRef({ moved: 0, swiped: 0, tappedAt: -Infinity, tap: { x: 0, y: 0 } })

  useEffect(() => {
    const { current } = image
    // Stops the loading of an image that is left.
    return () => current?.removeAttribute('src')
  }, [])

  // Not as a property: Preact would add a passive listener, which cannot keep the browser from zooming the page.
  useEffect(() => {
    const { current } = stage
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault()
      const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 300)
      setZoom((old) => bound(zoomAt(old, factor, fromMiddle(event))))
    }
    current?.addEventListener('wheel', onWheel, { passive: false })
    return () => current?.removeEventListener('wheel', onWheel)
  }, [])

  // With the rendering: a key meant for a magnified image must not go to another file.
  useLayoutEffect(() => {
    const dialog = stage.current?.closest('dialog')
    const onKey = (event: KeyboardEvent): void => {
      const next = zoomByKey(event.key)
      if (next === undefined) return
      event.preventDefault()
      setZoom(next)
    }
    // Before the keys of the viewer, which go to other files.
    dialog?.addEventListener('keydown', onKey, { capture: true })
    return () => dialog?.removeEventListener('keydown', onKey, { capture: true })
  })

  function zoomByKey(key: string): Zoom | undefined {
    const middle = { x: 0, y: 0 }
    if (key === '+' || key === '=') return bound(zoomAt(zoom, KEY_STEP, middle))
    if (key === '-') return bound(zoomAt(zoom, 1 / KEY_STEP, middle))
    if (key === '0') return WHOLE
    const [x, y] = PANS[key] ?? []
    if (zoom.scale === 1 || x === undefined || y === undefined) return undefined
    return moveBy(zoom, { x: x * KEY_PIXELS, y: y * KEY_PIXELS }, extent())
  }

  function extent() {
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = image.current ?? {}
    return { width, height }
  }

  function bound(zoomed: Zoom): Zoom {
    return moveBy(zoomed, { x: 0, y: 0 }, extent())
  }

  function fromMiddle({ clientX, clientY }: MouseEvent): Point {
    const box = stage.current?.getBoundingClientRect() ?? new DOMRect()
    return { x: clientX - box.x - box.width / 2, y: clientY - box.y - box.height / 2 }
  }

  function begin(event: PointerEvent): void {
    if (event.button !== 0) return
    stage.current?.setPointerCapture(event.pointerId)
    touching.current.set(event.pointerId, fromMiddle(event))
    if (touching.current.size === 1) {
      gesture.current.moved = 0
      gesture.current.swiped = 0
    }
  }

  function move(event: PointerEvent): void {
    const before = touching.current.get(event.pointerId)
    if (before === undefined) return
    const now = fromMiddle(event)
    const by = { x: now.x - before.x, y: now.y - before.y }
    const other = [...touching.current].find(([id]) => id !== event.pointerId)
    touching.current.set(event.pointerId, now)
    gesture.current.moved += Math.hypot(by.x, by.y)
    if (other !== undefined) pinch({ before, now, other: other[1] })
    else if (zoom.scale > 1) setZoom((old) => moveBy(old, by, extent()))
    else setSwiped((gesture.current.swiped += by.x))
  }

  /** Two fingers: the image grows as they part, and follows their middle. */
  function pinch({ before, now, other }: Record<'before' | 'now' | 'other', Point>): void {
    const apart = (a: Point): number => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y))
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }
    const by = { x: (now.x - before.x) / 2, y: (now.y - before.y) / 2 }
    setSwiped((gesture.current.swiped = 0))
    setZoom((old) => moveBy(zoomAt(old, apart(now) / apart(before), middle), by, extent()))
  }

  function end(event: PointerEvent): void {
    if (!touching.current.delete(event.pointerId) || touching.current.size > 0) return
    const { moved, swiped: way } = gesture.current
    gesture.current.swiped = 0
    setSwiped(0)
    if (event.type === 'pointercancel') return
    const isMirrored = stage.current !== null && getComputedStyle(stage.current).direction === 'rtl'
    if (moved < TAP_PIXELS) tap(event)
    else if (Math.abs(way) < SWIPE_PIXELS) return
    else if (way < 0 !== isMirrored) onNext()
    else onPrevious()
  }

  function tap(event: PointerEvent): void {
    const at = fromMiddle(event)
    const { tappedAt, tap: last } = gesture.current
    const isNear = Math.hypot(at.x - last.x, at.y - last.y) < DOUBLE_TAP_PIXELS
    if (isNear && event.timeStamp - tappedAt < DOUBLE_TAP_MS) {
      setZoom(zoom.scale > 1 ? WHOLE : bound(zoomAt(WHOLE, CLOSER, at)))
      gesture.current.tappedAt = -Infinity
    } else {
      gesture.current.tappedAt = event.timeStamp
      gesture.current.tap = at
    }
  }

  return (
    <div
      ref={stage}
      class={zoom.scale > 1 || swiped !== 0 ? `${STAGE} viewer-closer` : STAGE}
      aria-busy={isLoading}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
    >
      {isLoading && <p role="status">{messages.files.loading}</p>}
      <img
        ref={image}
        src={url}
        alt={visibleText(name)}
        draggable={false}
        style={{ transform: `translate(${zoom.x + swiped}px, ${zoom.y}px) scale(${zoom.scale})` }}
        onLoad={() => setLoading(false)}
        onError={onFail}
      />
    </div>
  )
}

/** In which direction the image moves when a key looks the other way. */
const PANS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}
