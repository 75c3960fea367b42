import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVersion } from '../../../src/core/objects/object-key.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('createVersion', () => {
  it('is a UUIDv7, lower-case, with the time in its first 48 bits (property)', () => {
    fc.assert(
      fc.property(time, (ms) => {
        const version = createVersion(ms)
        expect(version).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        )
        expect(Number.parseInt(version.replace('-', '').slice(0, 12), 16)).toBe(ms)
      }),
    )
  })

  it('ascends with the time, compared as text (property)', () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a !== b)
        expect(createVersion(a) < createVersion(b)).toBe(a < b)
      }),
    )
  })

  it('is of now when no time is given', () => {
    const before = createVersion(Date.now() - 1)
    expect(createVersion() > before).toBe(true)
    expect(createVersion() < createVersion(Date.now() + 1000)).toBe(true)
  })

  it('is unique within one millisecond', () => {
    const versions = Array.from({ length: 10_000 }, () => createVersion(1_800_000_000_000))
    expect(new Set(versions).size).toBe(versions.length)
  })
})
