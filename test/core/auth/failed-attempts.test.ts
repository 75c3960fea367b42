import { describe, expect, it } from 'vitest'
import {
  countGuesses,
  type GuessCount,
  type GuessPolicy,
} from '../../../src/core/auth/failed-attempts.ts'

const POLICY: GuessPolicy = {
  maxGuesses: 3,
  windowMs: 1000,
  firstBlockMs: 100,
  maxBlockMs: 350,
  memoryMs: 5000,
}

/** What becomes of an address that is wrong once at each of these times. */
function wrongAt(...times: readonly number[]): GuessCount | undefined {
  let count: GuessCount | undefined
  for (const now of times) count = countGuesses(count, { guesses: 1, now }, POLICY)
  return count
}

describe('C08 an address that is wrong about tokens', () => {
  it('is blocked by the last guess that a window allows, and not before', () => {
    expect(wrongAt(0, 500)).toMatchObject({ guesses: 2, blocks: 0, blockedUntil: 0 })
    expect(wrongAt(0, 500, 999)).toMatchObject({ guesses: 0, blocks: 1, blockedUntil: 1099 })
  })

  it('is blocked by as many at once', () => {
    const count = countGuesses(undefined, { guesses: 50, now: 7 }, POLICY)
    expect(count).toMatchObject({ blocks: 1, blockedUntil: 107 })
  })

  it('begins anew when its window is over', () => {
    expect(wrongAt(0, 500, 1000)).toMatchObject({ guesses: 1, windowEndsAt: 2000, blocks: 0 })
  })

  it('stays what it is while it is blocked', () => {
    const blocked = wrongAt(0, 0, 0)
    expect(countGuesses(blocked, { guesses: 9, now: 99 }, POLICY)).toBe(blocked)
    expect(countGuesses(blocked, { guesses: 1, now: 100 }, POLICY)).toMatchObject({ guesses: 1 })
  })

  it('is blocked twice as long each time, up to the longest', () => {
    const waits: number[] = []
    let [count, now]: [GuessCount | undefined, number] = [undefined, 0]
    for (let block = 0; block < 4; block += 1) {
      count = countGuesses(count, { guesses: 3, now }, POLICY)
      waits.push(count.blockedUntil - now)
      now = count.blockedUntil
    }
    expect(waits).toEqual([100, 200, 350, 350])
  })

  it('is remembered for a while after a block, then not at all', () => {
    const blocked = wrongAt(0, 0, 0)
    expect(blocked?.expiresAt).toBe(5100)
    const again = (now: number) => countGuesses(blocked, { guesses: 3, now }, POLICY)
    expect(again(5099)).toMatchObject({ blocks: 2, blockedUntil: 5299 })
    expect(again(5100)).toMatchObject({ blocks: 1, blockedUntil: 5200 })
  })

  it('that is not blocked is remembered as long as its window', () => {
    expect(wrongAt(10)?.expiresAt).toBe(1010)
  })
})
