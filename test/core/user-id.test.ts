import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUserId, parseUserId } from '../../src/core/user-id.ts'

describe('parseUserId', () => {
  it.each(['a', 'Me', 'ME', 'mean', '0', '_', '-', 'a'.repeat(64)])('takes %j', (id) => {
    expect(parseUserId(id)).toBe(id)
  })

  it.each(['', 'me', 'a'.repeat(65), 'a b', 'a/b', '..', 'a\n', 'ä', 'a.b', 'a%20'])(
    'refuses %j',
    (id) => {
      expect(() => parseUserId(id)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter', facts: { parameter: 'user_id' } }),
      )
    },
  )

  it('takes a generated UUID (property)', () => {
    fc.assert(fc.property(fc.uuid(), (id) => parseUserId(id) === id))
  })

  it('agrees with its guard on any text (property)', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[A-Za-z0-9_-]{0,70}$/))
    fc.assert(
      fc.property(text, (id) => {
        const isAllowed = [...id].every((c) => /[A-Za-z0-9_-]/.test(c)) && id !== 'me'
        expect(isUserId(id)).toBe(isAllowed && id.length >= 1 && id.length <= 64)
      }),
    )
  })
})
