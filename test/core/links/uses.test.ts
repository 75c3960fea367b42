import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  ROUNDING_UNITS,
  USE_UNITS,
  type Uses,
  usesOf,
  usesUnsent,
} from '../../../src/core/links/link.ts'

const unitsOf = ({ whole, fraction }: Uses): bigint =>
  BigInt(whole) * BigInt(USE_UNITS) + BigInt(fraction)

const MAX_SIZE = 2 ** 53 - 1

it('A whole file is one use, an empty one too', () => {
  for (const size of [0, 1, 7, MAX_SIZE])
    expect(usesOf(size, size)).toEqual({ whole: 1, fraction: 0 })
})

it('The ranges that a file is cut into are one use, but for rounding, and never less', () => {
  const cuts = fc.tuple(
    fc.integer({ min: 1, max: MAX_SIZE }),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 }),
  )
  fc.assert(
    fc.property(cuts, ([size, places]) => {
      const ends = [...places.map((place) => Math.floor(place * size)), size].toSorted(
        (a, b) => a - b,
      )
      const sizes = ends.map((end, at) => end - (ends[at - 1] ?? 0)).filter((bytes) => bytes > 0)
      const sum = sizes.reduce((all, bytes) => all + unitsOf(usesOf(bytes, size)), 0n)
      const excess = sum - BigInt(USE_UNITS)
      expect(excess >= 0n && excess < BigInt(sizes.length)).toBe(true)
      expect(excess <= BigInt(ROUNDING_UNITS)).toBe(true)
    }),
  )
})

it('What was not sent is given back, and never more than what was sent has counted', () => {
  const cut = fc
    .integer({ min: 1, max: MAX_SIZE })
    .chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 1, max: size })))
    .chain(([size, bytes]) =>
      fc.tuple(fc.constant(size), fc.constant(bytes), fc.integer({ min: 0, max: bytes })),
    )
  fc.assert(
    fc.property(cut, ([size, bytes, sent]) => {
      const left = unitsOf(usesOf(bytes, size)) - unitsOf(usesUnsent(bytes - sent, size))
      expect(left * BigInt(size) >= BigInt(sent) * BigInt(USE_UNITS)).toBe(true)
      expect(left <= unitsOf(usesOf(sent, size)) + 1n).toBe(true)
    }),
  )
  expect(usesUnsent(0, 0)).toEqual({ whole: 0, fraction: 0 })
})
