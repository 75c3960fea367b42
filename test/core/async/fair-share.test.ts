import { describe, expect, it } from 'vitest'
import { createFairShare, type FairShare, type Share } from '../../../src/core/async/fair-share.ts'

function joinQuick(readers: FairShare): Share {
  const share = readers.join()
  for (let round = 0; round < 10; round++) share.adapt(1)
  return share
}

describe('an even share', () => {
  it('is as large as the most may be, while there is enough for all', () => {
    const readers = createFairShare({ totalBytes: 100, minBytes: 5, maxBytes: 40 })
    const share = joinQuick(readers)
    expect(share.bytes).toBe(40)
    readers.join()
    expect(share.bytes).toBe(40)
    readers.join()
    expect(share.bytes).toBe(33)
  })

  it('is never less than the least', () => {
    const readers = createFairShare({ totalBytes: 100, minBytes: 5, maxBytes: 40 })
    const share = joinQuick(readers)
    for (let count = 0; count < 1000; count++) readers.join()
    expect(share.bytes).toBe(5)
  })

  it('grows when others leave', () => {
    const readers = createFairShare({ totalBytes: 100, minBytes: 5, maxBytes: 100 })
    const share = joinQuick(readers)
    const others = [readers.join(), readers.join()]
    expect(share.bytes).toBe(33)
    others[0]?.leave()
    expect(share.bytes).toBe(50)
  })

  it('begins with four times the least, and grows and shrinks as its reader is quick and slow', () => {
    const readers = createFairShare({ totalBytes: 1000, minBytes: 5, maxBytes: 100 })
    const share = readers.join()
    const sizes = [share.bytes]
    for (const ms of [99, 99, 1, 100, 5_000, 5_000]) {
      share.adapt(ms)
      sizes.push(share.bytes)
    }
    expect(sizes).toEqual([20, 80, 100, 100, 25, 6, 5])
  })
})
