import { describe, expect, it } from 'vitest'
import { formatDuration } from '../../web/shared/format.ts'

describe('a duration', () => {
  it.each([
    [0.2, '1 s'],
    [59.5, '1 min'],
    [60, '1 min'],
    [3541, '1 h 0 min'],
    [7199, '2 h 0 min'],
    [7201, '2 h 1 min'],
  ])('of %d s is %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })
})
