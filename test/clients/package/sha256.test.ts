import { createHash } from 'node:crypto'
import { array, assert, constantFrom, oneof, property, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createPortableSha256,
  formatReprDigest,
  parseReprDigest,
} from '../../../packages/js/src/sha256.ts'

/** Lengths around the borders of blocks and of the padding too. */
const bytes = oneof(
  uint8Array({ maxLength: 300 }),
  constantFrom(55, 56, 63, 64, 65, 119, 120, 127, 128).map((length) => new Uint8Array(length)),
)

describe('the SHA-256 of browsers', () => {
  it('is that of Node.js, however the content is cut', () => {
    assert(
      property(array(bytes, { maxLength: 6 }), (chunks) => {
        const [own, other] = [createPortableSha256(), createHash('sha256')]
        for (const chunk of chunks) {
          own.update(chunk)
          other.update(chunk)
        }
        expect(own.hex()).toBe(other.digest('hex'))
      }),
    )
  })
})

describe('Repr-Digest', () => {
  it('has every digest back that it is given', () => {
    const hex = createHash('sha256').update('a').digest('hex')
    expect(parseReprDigest(formatReprDigest(hex))).toBe(hex)
    expect(parseReprDigest(`sha-512=:AAAA:, ${formatReprDigest(hex)}`)).toBe(hex)
    expect(parseReprDigest('sha-512=:AAAA:')).toBeUndefined()
    expect(parseReprDigest(null)).toBeUndefined()
    expect(() => formatReprDigest(hex.toUpperCase())).toThrow(TypeError)
  })
})
