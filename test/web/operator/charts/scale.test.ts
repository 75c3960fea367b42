import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BYTES, COUNTS, type Scale, ticksOf } from '../../../../web/operator/charts/scale.ts'
import { formatAge } from '../../../../web/operator/format-age.ts'

describe('the vertical axis of a chart', () => {
  const labels = (most: number, scale: Scale, steps: 1 | 2) =>
    ticksOf(most, scale, steps).map((tick) => scale.format(tick))

  it.each([
    [0, ['0']],
    [1, ['1', '0']],
    [2, ['2', '1', '0']],
    [7, ['10', '5', '0']],
    [101, ['200', '100', '0']],
    [8_997, ['10,000', '5,000', '0']],
    [1_000_001, ['2,000,000', '1,000,000', '0']],
  ])('has round counts up to %d', (most, expected) => {
    expect(labels(most, COUNTS, 2)).toEqual(expected)
  })

  it.each([
    [1, ['1 byte', '0 bytes']],
    [3 * 2 ** 20, ['4 MiB', '2 MiB', '0 bytes']],
    [1023 * 2 ** 20, ['1 GiB', '512 MiB', '0 bytes']],
    [90 * 2 ** 30, ['128 GiB', '64 GiB', '0 bytes']],
  ])('has sizes of few digits up to %d bytes', (most, expected) => {
    expect(labels(most, BYTES, 2)).toEqual(expected)
  })

  it('has one step where there is little room', () => {
    expect(labels(65, COUNTS, 1)).toEqual(['100', '0'])
    expect(labels(59 * 1024, BYTES, 1)).toEqual(['64 KiB', '0 bytes'])
  })

  it('has room for every value, in equal steps (property)', () => {
    const some = fc.record({
      most: fc.oneof(fc.double({ min: 1e-9, max: 2 ** 53, noNaN: true }), fc.maxSafeNat()),
      scale: fc.constantFrom(COUNTS, BYTES),
      steps: fc.constantFrom(1 as const, 2 as const),
    })
    fc.assert(
      fc.property(some, ({ most, scale, steps }) => {
        const ticks = ticksOf(most, scale, steps)
        const [top = 0] = ticks
        expect(top).toBeGreaterThanOrEqual(most)
        expect(ticks.length).toBeLessThanOrEqual(steps + 1)
        expect(ticks.map((tick) => (tick / top) * (ticks.length - 1) || 0)).toEqual(
          ticks.length === 1 ? [0] : ticks.map((_, at) => ticks.length - 1 - at),
        )
      }),
    )
  })
})

it.each([
  [5, '5 s'],
  [7_300, '2 h 2 min'],
  [172_700, '47 h 59 min'],
  [172_800, '2 d'],
  [12.7 * 86_400, '12 d'],
])('an age of %d s is short to read', (seconds, expected) => {
  expect(formatAge(seconds)).toBe(expected)
})
