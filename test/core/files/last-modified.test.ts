import { describe, expect, it } from 'vitest'
import {
  dateAfter,
  formatLastModified,
  lastModified,
} from '../../../src/core/files/last-modified.ts'

const DAY = Date.UTC(2026, 10, 28)

describe('the date of a content', () => {
  it('is the second of its change, unless another content of the name can have had it', () => {
    for (const [previous, at, expected] of [
      [0, DAY + 1234, DAY + 1000],
      [DAY, DAY + 1000, DAY + 1000],
      [DAY, DAY + 999, DAY + 1000],
      [DAY + 1000, DAY + 1, DAY + 2000],
      [DAY + 7_200_000, DAY, DAY + 7_201_000],
    ] as const) {
      const modifiedAt = dateAfter(previous, at)
      expect(lastModified({ updatedAt: at, modifiedAt })).toBe(expected)
    }
  })

  it('is sent no later than the response', () => {
    const file = { updatedAt: DAY + 500, modifiedAt: DAY + 1000 }
    expect(formatLastModified(file, DAY + 999)).toBe('Sat, 28 Nov 2026 00:00:00 GMT')
    expect(formatLastModified(file, DAY + 1000)).toBe('Sat, 28 Nov 2026 00:00:01 GMT')
  })

  it('the date of a past version is that of its change', () => {
    expect(lastModified({ updatedAt: DAY + 1 })).toBe(DAY)
  })
})
