import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUserId, parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'

const ALLOWED = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')

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
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(parseUserId(id)).toBe(id)
      }),
    )
  })

  it('agrees with its guard on any text (property)', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[A-Za-z0-9_-]{0,70}$/))
    fc.assert(
      fc.property(text, (id) => {
        const isAllowed = Buffer.from(id).every((byte) => ALLOWED.includes(byte))
        const isOfLength = id.length >= 1 && id.length <= 64
        expect(isUserId(id)).toBe(isAllowed && isOfLength && id !== 'me')
      }),
    )
  })
})

describe('parseUserIdPrefix', () => {
  it.each(['', 'a', 'm', 'me', '_', '-', 'a'.repeat(64)])('takes %j unchanged', (prefix) => {
    expect(parseUserIdPrefix(prefix)).toBe(prefix)
  })

  it.each(['a'.repeat(65), ' ', 'a b', 'a/', '%', '*', 'a\n', '\0', 'ä', '\ud83d'])(
    'refuses %j, with which no id begins, and says which parameter it was',
    (prefix) => {
      expect(() => parseUserIdPrefix(prefix)).toThrow(
        expect.objectContaining({ code: 'invalid_parameter', facts: { parameter: 'prefix' } }),
      )
    },
  )

  it('takes whatever an id begins with (property)', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
    fc.assert(
      fc.property(id, fc.nat(64), (text, length) => {
        expect(parseUserIdPrefix(text.slice(0, length))).toBe(text.slice(0, length))
      }),
    )
  })
})
