import { expect, test } from 'vitest'
import { percentileOf, spreadOf } from '../../bench/measure/statistics.ts'

test('the median of an odd count is the one in the middle, in whatever order they come', () => {
  expect(spreadOf([10, 2, 9])).toEqual({ median: 9, least: 2, most: 10 })
})

test('the median of an even count lies between the two in the middle', () => {
  expect(spreadOf([4, 1, 2, 100])).toEqual({ median: 3, least: 1, most: 100 })
})

test('one value is its own spread, and none has no spread', () => {
  expect(spreadOf([7])).toEqual({ median: 7, least: 7, most: 7 })
  expect(spreadOf([])).toBeUndefined()
})

test('a percentile is the least value that so many do not exceed', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)
  expect(percentileOf(hundred, 50)).toBe(50)
  expect(percentileOf(hundred, 99)).toBe(99)
  expect(percentileOf([3], 99)).toBe(3)
  expect(percentileOf([], 50)).toBeUndefined()
})
