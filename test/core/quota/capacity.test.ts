import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { availableBytes, capacityState } from '../../../src/core/quota/capacity.ts'
import { capacityExceeded, fileCountExceeded } from '../../../src/core/quota/refusal.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'

function usage(figures: Partial<Usage>): Usage {
  return { capacity: 100, used: 0, reserved: 0, fileCount: 0, ...figures }
}

describe('availableBytes', () => {
  it('is what is neither used nor reserved', () => {
    expect(availableBytes(usage({ used: 60, reserved: 15 }))).toBe(25)
  })

  it('is 0 and never less when more is used than the capacity', () => {
    expect(availableBytes(usage({ used: 101 }))).toBe(0)
    expect(availableBytes(usage({ used: 90, reserved: 20 }))).toBe(0)
  })
})

describe('capacityState', () => {
  it.each([
    [0, 'normal'],
    [89, 'normal'],
    [90, 'nearing'],
    [98, 'nearing'],
    [99, 'critical'],
    [100, 'critical'],
    [101, 'exceeded'],
  ])('a capacity with %d of 100 bytes used is %s', (used, state) => {
    expect(capacityState(usage({ used }))).toBe(state)
  })

  it('does not count what is only reserved', () => {
    expect(capacityState(usage({ used: 10, reserved: 90 }))).toBe('normal')
  })

  it('is critical for an empty repository without capacity, into which nothing fits', () => {
    expect(capacityState(usage({ capacity: 0 }))).toBe('critical')
  })

  it('keeps its limits to the byte at any capacity (property)', () => {
    const atLimit = fc.record({
      capacity: fc
        .nat({ max: 2 ** 31 - 1 })
        .chain((n) => fc.constantFrom(n, n * 4_000_037, MAX_BYTES - n)),
      percent: fc.constantFrom(90n, 99n, 100n),
      above: fc.integer({ min: -2, max: 2 }),
    })
    fc.assert(
      fc.property(atLimit, ({ capacity, percent, above }) => {
        const used = Number((BigInt(capacity) * percent) / 100n) + above
        fc.pre(used >= 0 && used <= MAX_BYTES)
        expect(capacityState(usage({ capacity, used }))).toBe(exactState(capacity, used))
      }),
      { numRuns: 5000 },
    )
  })
})

function exactState(capacity: number, used: number): string {
  const [whole, share] = [BigInt(capacity), BigInt(used) * 100n]
  if (used > capacity) return 'exceeded'
  if (share >= whole * 99n) return 'critical'
  return share >= whole * 90n ? 'nearing' : 'normal'
}

describe('refusals', () => {
  it('capacityExceeded says the figures that explain it', () => {
    const refusal = capacityExceeded(usage({ used: 60, reserved: 15 }), 26)
    expect(refusal).toMatchObject({
      code: 'capacity_exceeded',
      facts: { capacity: 100, used: 60, reserved: 15, requested: 26, available: 25 },
    })
  })

  it('fileCountExceeded says how many files there are, and how many there may be', () => {
    expect(fileCountExceeded(usage({ fileCount: 7 }), 7)).toMatchObject({
      code: 'file_count_exceeded',
      facts: { file_count: 7, max_files: 7 },
    })
  })
})
