import { describe, expect, it } from 'vitest'
import {
  countFailedAttempts,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from '../../../src/core/auth/failed-attempts.ts'

const POLICY: FailedAttemptPolicy = {
  maxFailedAttempts: 3,
  windowMs: 1000,
  firstBlockMs: 100,
  maxBlockMs: 350,
  memoryMs: 5000,
}

/** What becomes of an address that is wrong once at each of these times. */
function wrongAt(...times: readonly number[]): FailedAttemptCount | undefined {
  let count: FailedAttemptCount | undefined
  for (const now of times) count = countFailedAttempts(count, { failedAttempts: 1, now }, POLICY)
  return count
}

describe('C08 an address that is wrong about tokens', () => {
  it('is blocked by the last guess that a window allows, and not before', () => {
    expect(wrongAt(0, 500)).toMatchObject({ failedAttempts: 2, blocks: 0, blockedUntil: 0 })
    expect(wrongAt(0, 500, 999)).toMatchObject({ failedAttempts: 0, blocks: 1, blockedUntil: 1099 })
  })

  it('is blocked by as many at once', () => {
    const count = countFailedAttempts(undefined, { failedAttempts: 50, now: 7 }, POLICY)
    expect(count).toMatchObject({ blocks: 1, blockedUntil: 107 })
  })

  it('begins anew when its window is over', () => {
    expect(wrongAt(0, 500, 1000)).toMatchObject({
      failedAttempts: 1,
      windowEndsAt: 2000,
      blocks: 0,
    })
  })

  it('stays what it is while it is blocked', () => {
    const blocked = wrongAt(0, 0, 0)
    expect(countFailedAttempts(blocked, { failedAttempts: 9, now: 99 }, POLICY)).toBe(blocked)
    expect(countFailedAttempts(blocked, { failedAttempts: 1, now: 100 }, POLICY)).toMatchObject({
      failedAttempts: 1,
    })
  })

  it('is blocked twice as long each time, up to the longest', () => {
    const waits: number[] = []
    let [count, now]: [FailedAttemptCount | undefined, number] = [undefined, 0]
    for (let block = 0; block < 4; block += 1) {
      count = countFailedAttempts(count, { failedAttempts: 3, now }, POLICY)
      waits.push(count.blockedUntil - now)
      now = count.blockedUntil
    }
    expect(waits).toEqual([100, 200, 350, 350])
  })

  it('is remembered for a while after a block, then not at all', () => {
    const blocked = wrongAt(0, 0, 0)
    expect(blocked?.expiresAt).toBe(5100)
    const again = (now: number) => countFailedAttempts(blocked, { failedAttempts: 3, now }, POLICY)
    expect(again(5099)).toMatchObject({ blocks: 2, blockedUntil: 5299 })
    expect(again(5100)).toMatchObject({ blocks: 1, blockedUntil: 5200 })
  })

  it('that is not blocked is remembered as long as its window', () => {
    expect(wrongAt(10)?.expiresAt).toBe(1010)
  })
})
