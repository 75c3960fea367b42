import { beforeEach, describe, expect, it } from 'vitest'
import { LONG_MS, NOBODY, TimeShares } from '../../../src/core/async/time-shares.ts'
import { TurnQueue } from '../../../src/database/sqlite/group-commit.ts'

describe('the shares of the time of the database', () => {
  let now: number
  let shares: TimeShares

  beforeEach(() => {
    now = 0
    shares = new TimeShares(() => now)
  })

  it('count what was used lately, and forget it by half in a second', () => {
    shares.charge('ann', 8)
    now = 1_000
    expect(shares.usedBy('ann')).toBe(4)
    shares.charge('ann', 1)
    expect(shares.usedBy('ann')).toBe(5)
    expect(shares.usedBy('bob')).toBe(0)
  })

  it('expect the next transaction to take as long as the last ones', () => {
    shares.charge('ann', 10)
    expect(shares.costOf('ann')).toBe(10)
    shares.charge('ann', 0)
    expect(shares.costOf('ann')).toBe(7)
  })

  it('have a user pause after a long transaction while others are active', () => {
    shares.charge('bob', 1)
    shares.charge('ann', 50)
    expect(shares.pauseOf('ann')).toBe(150)
    expect(shares.pauseOf('bob')).toBe(0)
    now = 60
    expect(shares.pauseOf('ann')).toBe(90)
    now = 1_001
    expect(shares.pauseOf('ann')).toBe(0)
  })

  it('hold no transaction against its user for more than two seconds', () => {
    for (let at = 0; at < 5; at++) {
      shares.charge('bob', 1)
      shares.charge('ann', 10_000)
    }
    expect(shares.pauseOf('ann')).toBe(2_000)
  })

  it('have nobody pause who is alone, or whose transaction is short', () => {
    shares.charge('ann', 50)
    expect(shares.pauseOf('ann')).toBe(0)
    shares.charge('bob', LONG_MS)
    expect(shares.pauseOf('bob')).toBe(0)
  })

  it('take no transaction for long where short ones take as long', () => {
    for (let i = 0; i < 200; i++) shares.note('bob', 20)
    shares.charge('ann', 70)
    expect(shares.pauseOf('ann')).toBe(0)
    shares.charge('ann', 90)
    expect(shares.pauseOf('ann')).toBe(270)
  })

  it('do not count what no user has asked for', () => {
    shares.charge('ann', 1)
    shares.charge(NOBODY, 500)
    expect(shares.usedBy(NOBODY)).toBe(0)
    expect(shares.pauseOf(NOBODY)).toBe(0)
  })

  describe('in the queue of the writer', () => {
    it('give the turn to the user who has used least, in call order', () => {
      const queue = new TurnQueue<string>(shares)
      shares.charge('ann', 3)
      for (const item of ['a1', 'a2']) queue.add('ann', item)
      for (const item of ['b1', 'b2']) queue.add('bob', item)
      const taken: unknown[] = []
      while (queue.size > 0) {
        const next = queue.take(Infinity)
        taken.push(next?.item)
        shares.charge(next?.by ?? NOBODY, 2)
      }
      expect(taken).toEqual(['b1', 'b2', 'a1', 'a2'])
    })

    it('keep back what would probably take too long, and who pauses', () => {
      const queue = new TurnQueue<string>(shares)
      shares.charge('ann', 30)
      queue.add('ann', 'a')
      expect(queue.take(4)).toBeUndefined()
      shares.charge('bob', 1)
      shares.charge('ann', 30)
      expect(queue.take(Infinity)).toBeUndefined()
      expect(queue.pause()).toBe(90)
      queue.add('bob', 'b')
      expect(queue.pause()).toBe(0)
      expect(queue.take(4)).toEqual({ by: 'bob', item: 'b' })
      now = 90
      expect(queue.take(Infinity)).toEqual({ by: 'ann', item: 'a' })
      expect(queue.size).toBe(0)
    })

    it('can be emptied, whoever pauses', () => {
      const queue = new TurnQueue<string>(shares)
      for (const item of ['a1', 'a2', 'a3']) queue.add('ann', item)
      queue.add('bob', 'b1')
      expect(queue.takeAny(2)).toEqual(['a1', 'a2'])
      expect(queue.takeAny(9)).toEqual(['a3', 'b1'])
      expect(queue.size).toBe(0)
    })
  })
})
