import { expect, it } from 'vitest'
import { moveBy, WHOLE, zoomAt } from '../../../../web/user/viewer/zoom.ts'

it('an image grows around the point under the pointer, to ten times its size', () => {
  const point = { x: 100, y: -40 }
  const once = zoomAt(WHOLE, 2, point)
  expect(once).toEqual({ scale: 2, x: -100, y: 40 })
  // What was at the point is there still.
  expect({ x: (point.x - once.x) / 2, y: (point.y - once.y) / 2 }).toEqual(point)
  const most = zoomAt(once, 100, point)
  expect(most.scale).toBe(10)
  expect({ x: (point.x - most.x) / 10, y: (point.y - most.y) / 10 }).toEqual(point)
})

it('an image that shrinks to its size is in the middle again, and becomes no smaller', () => {
  expect(zoomAt({ scale: 2, x: 70, y: 9 }, 0.1, { x: 5, y: 5 })).toEqual(WHOLE)
})

it('an image cannot be moved off the stage', () => {
  const image = { width: 300, height: 200 }
  const moved = moveBy({ scale: 3, x: 0, y: 0 }, { x: 1000, y: -1000 }, image)
  expect(moved).toEqual({ scale: 3, x: 300, y: -200 })
})
