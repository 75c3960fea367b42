import { describe, expect, it } from 'vitest'
import { parsePageLimit } from '../../src/core/pagination.ts'

describe('parsePageLimit', () => {
  it.each([
    [undefined, 100],
    ['1', 1],
    ['1000', 1000],
  ])('reads %j as %d', (text, limit) => {
    expect(parsePageLimit(text)).toBe(limit)
  })

  it.each(['', '0', '1001', '-1', '1.5', '1e2', ' 5', '0x5', 'many'])('refuses %j', (text) => {
    expect(() => parsePageLimit(text)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', facts: { parameter: 'limit' } }),
    )
  })
})
