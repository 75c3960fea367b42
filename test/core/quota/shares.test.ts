import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeldCounts } from '../../../src/core/quota/held-counts.ts'
import { explainReached, limitFor, reachedBound, shareOf } from '../../../src/core/quota/shares.ts'

describe('the share of a narrow credential', () => {
  it.each([
    [0, { own: 0, all: 0 }],
    [1, { own: 1, all: 1 }],
    [2, { own: 1, all: 1 }],
    [16, { own: 4, all: 14 }],
    [100, { own: 25, all: 90 }],
    [1_000, { own: 250, all: 900 }],
  ])('the share of %i is %o', (limit, share) => {
    expect(shareOf(limit)).toEqual(share)
    expect(limitFor(limit, 'camera')).toBe(share.all)
    expect(limitFor(limit, undefined)).toBe(limit)
  })

  it('says which bound is reached', () => {
    expect(reachedBound(16, { all: 3, own: 3 })).toBeUndefined()
    expect(reachedBound(16, { all: 4, own: 4 })).toEqual({ bound: 4, of: 'credential' })
    expect(reachedBound(16, { all: 14, own: 0 })).toEqual({ bound: 14, of: 'others' })
    expect(reachedBound(16, { all: 15, own: undefined })).toBeUndefined()
    expect(reachedBound(16, { all: 16, own: undefined })).toEqual({ bound: 16, of: 'user' })
    const details = (['user', 'credential', 'others'] as const).map((of) =>
      explainReached({ bound: 4, of }, 'links'),
    )
    expect(details).toEqual([
      'This user already has the maximum of 4 links.',
      'This access token or link already has its share of 4 links.',
      'This user already has 4 links; the rest is reserved for access tokens without a scope.',
    ])
  })

  it('lets a narrow credential alone take one thing of any size that the limit permits', () => {
    expect(reachedBound(20, { all: 0, own: 0 }, 20)).toBeUndefined()
    expect(reachedBound(20, { all: 0, own: 0 }, 21)).toMatchObject({ of: 'user' })
    expect(reachedBound(20, { all: 1, own: 1 }, 10)).toMatchObject({ of: 'credential' })
  })

  it('never exceeds the limit, and leaves a tenth to others, whatever narrow ones ask for', () => {
    const limit = fc.integer({ min: 2, max: 200 })
    const asked = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 300 })
    fc.assert(
      fc.property(limit, asked, (limit, asked) => {
        const counts = new HeldCounts(limit)
        for (const credential of asked) {
          const holder = { owner: 'ann', credential }
          if (counts.reached(holder) === undefined) counts.add(holder, 1)
        }
        expect(counts.of('ann')).toBeLessThanOrEqual(limit - Math.ceil(limit / 10))
        for (let left = counts.of('ann'); left < limit; left++) {
          expect(counts.reached({ owner: 'ann' })).toBeUndefined()
          counts.add({ owner: 'ann' }, 1)
        }
        expect(counts.reached({ owner: 'ann' })).toEqual({ bound: limit, of: 'user' })
        expect(counts.reached({ owner: 'bob', credential: 'a' })).toBeUndefined()
      }),
    )
  })

  it('counts one credential of two users apart, and forgets what is given back', () => {
    const counts = new HeldCounts(4)
    counts.add({ owner: 'ann', credential: 'phone' }, 1)
    expect(counts.reached({ owner: 'ann', credential: 'phone' })).toBeDefined()
    expect(counts.reached({ owner: 'bob', credential: 'phone' })).toBeUndefined()
    counts.add({ owner: 'ann', credential: 'phone' }, -1)
    expect(counts.reached({ owner: 'ann', credential: 'phone' })).toBeUndefined()
    expect(counts.of('ann')).toBe(0)
  })
})
