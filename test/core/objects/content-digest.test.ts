import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { DigestState, digestOf } from '../../../src/core/objects/content-digest.ts'

it('has the check value of CRC-32, and the SHA-256 of FIPS 180', () => {
  expect(digestOf(Buffer.from('123456789')).crc32).toBe(0xcbf43926)
  expect(digestOf(Buffer.from('abc')).sha256).toMatch(/^ba7816bf8f01cfea.*f20015ad$/)
})

it('is the same for a content in any chunks, and of a copy that goes on elsewhere', () => {
  const property = fc.property(fc.array(fc.uint8Array()), fc.nat(), (chunks, cut) => {
    const state = new DigestState()
    const before = chunks.slice(0, cut % (chunks.length + 1))
    for (const chunk of before) state.update(chunk)
    const copy = state.copy()
    for (const chunk of chunks.slice(before.length)) copy.update(chunk)
    const whole = Buffer.concat(chunks)
    expect(state.end()).toEqual(digestOf(Buffer.concat(before)))
    expect(copy.end()).toEqual({
      sha256: createHash('sha256').update(whole).digest('hex'),
      crc32: crc32(whole),
    })
  })
  expect(fc.assert(property)).toBeUndefined()
})
