/** How an image is magnified, and moved from the middle of the stage, in pixels. */
export interface Zoom {
  readonly scale: number
  readonly x: number
  readonly y: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Extent {
  readonly width: number
  readonly height: number
}

/** The whole image. */
export const WHOLE: Zoom = { scale: 1, x: 0, y: 0 }

const MAX_SCALE = 10

/** Magnifies by `factor`, from 1 to `MAX_SCALE` in all. What is at `point`, counted from the middle, stays there. */
export function zoomAt({ scale, x, y }: Zoom, factor: number, point: Point): Zoom {
  const to = Math.min(MAX_SCALE, Math.max(1, scale * factor))
  const grown = to / scale
  if (to === 1) return WHOLE
  return { scale: to, x: point.x - (point.x - x) * grown, y: point.y - (point.y - y) * grown }
}

/** Moves by `by`, but the middle of the stage stays within the image, whose size unmagnified is `image`. */
export function moveBy({ scale, x, y }: Zoom, by: Point, image: Extent): Zoom {
  const within = (at: number, size: number): number => {
    const most = (size * (scale - 1)) / 2
    return Math.min(most, Math.max(-most, at))
  }
  return { scale, x: within(x + by.x, image.width), y: within(y + by.y, image.height) }
}
