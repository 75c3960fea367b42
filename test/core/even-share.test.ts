import { describe, expect, it } from 'vitest'
import { EvenShare } from '../../src/core/even-share.ts'

describe('an even share', () => {
  it('is as large as the most may be, while there is enough for all', () => {
    const share = new EvenShare({ totalBytes: 100, leastBytes: 5, mostBytes: 40 })
    expect(share.bytes).toBe(40)
    share.join()
    share.join()
    expect(share.bytes).toBe(40)
    share.join()
    expect(share.bytes).toBe(33)
  })

  it('is never less than the least', () => {
    const share = new EvenShare({ totalBytes: 100, leastBytes: 5, mostBytes: 40 })
    for (let count = 0; count < 1000; count++) share.join()
    expect(share.bytes).toBe(5)
  })

  it('grows when others leave', () => {
    const share = new EvenShare({ totalBytes: 100, leastBytes: 5, mostBytes: 100 })
    share.join()
    share.join()
    share.join()
    expect(share.bytes).toBe(33)
    share.leave()
    expect(share.bytes).toBe(50)
  })
})
