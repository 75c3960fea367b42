import { describe, expect, it } from 'vitest'
import {
  countFailedAttempt,
  type FailedAttemptCount,
  type FailedAttemptPolicy,
} from '../../../src/core/auth/failed-attempt-limiter.ts'

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
  for (const now of times) count = countFailedAttempt(count, now, POLICY)
  return count
}

/** What becomes of it when it is wrong as often as a window allows, at once. */
function wrongAgain(count: FailedAttemptCount | undefined, now: number) {
  let again = count
  for (let times = 0; times < POLICY.maxFailedAttempts; times += 1)
    again = countFailedAttempt(again, now, POLICY)
  return again
}

describe('C08 an address that is wrong about tokens', () => {
  it('is blocked by the last guess that a window allows, and not before', () => {
    expect(wrongAt(0, 500)).toMatchObject({ failedAttempts: 2, blocks: 0, blockedUntil: 0 })
    expect(wrongAt(0, 500, 999)).toMatchObject({ failedAttempts: 0, blocks: 1, blockedUntil: 1099 })
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
    expect(countFailedAttempt(blocked, 99, POLICY)).toBe(blocked)
    expect(countFailedAttempt(blocked, 100, POLICY)).toMatchObject({ failedAttempts: 1 })
  })

  it('is blocked twice as long each time, up to the longest', () => {
    const waits: number[] = []
    let [count, now] = [wrongAt(), 0]
    for (let block = 0; block < 4; block += 1) {
      count = wrongAgain(count, now)
      waits.push((count?.blockedUntil ?? 0) - now)
      now = count?.blockedUntil ?? 0
    }
    expect(waits).toEqual([100, 200, 350, 350])
  })

  it('is remembered for a while after a block, then not at all', () => {
    const blocked = wrongAt(0, 0, 0)
    expect(blocked?.expiresAt).toBe(5100)
    expect(wrongAgain(blocked, 5099)).toMatchObject({ blocks: 2, blockedUntil: 5299 })
    expect(wrongAgain(blocked, 5100)).toMatchObject({ blocks: 1, blockedUntil: 5200 })
  })

  it('an address that is not blocked is remembered as long as its window', () => {
    expect(wrongAt(10)?.expiresAt).toBe(1010)
  })
})
