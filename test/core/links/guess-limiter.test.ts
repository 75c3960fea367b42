import { beforeEach, describe, expect, it } from 'vitest'
import { createGuessLimiter, type GuessLimiter } from '../../../src/core/links/guess-limiter.ts'

describe('the passwords of a link', () => {
  let now: number
  let limiter: GuessLimiter
  beforeEach(() => {
    now = 1_000_000
    limiter = createGuessLimiter(() => now)
  })

  const tryOf = (link = 'link') => {
    limiter.beginTry(link)
  }
  const tries = (count: number) => {
    for (let at = 0; at < count; at += 1) tryOf()
  }
  const refused = (retry_after: number) =>
    expect.objectContaining({ code: 'too_many_requests', facts: { retry_after } }) as Error

  it('are tried 20 times, and then once every 10 s', () => {
    tries(20)
    expect(() => tryOf()).toThrow(refused(10))
    expect(() => limiter.assertMayTry('link')).toThrow(refused(10))
    now += 9_000
    expect(() => tryOf()).toThrow(refused(1))
    now += 1_000
    tryOf()
    expect(() => tryOf()).toThrow(refused(10))
    now += 20_000
    tries(2)
    expect(() => tryOf()).toThrow(refused(10))
  })

  it('that are right do not count, and make no room for wrong ones', () => {
    tries(19)
    for (let at = 0; at < 100; at += 1) {
      tryOf()
      limiter.giveBack('link')
    }
    tryOf()
    expect(() => tryOf()).toThrow(refused(10))
    now += 10_000
    tryOf()
    limiter.giveBack('link')
    tryOf()
    expect(() => tryOf()).toThrow(refused(10))
  })

  it('are never more than 20 at once, however long nobody has tried', () => {
    tries(20)
    now += 3_600_000
    tries(20)
    expect(() => tryOf()).toThrow(refused(10))
  })

  it('of other links do not count, and at most 10,000 links are remembered', () => {
    tries(20)
    for (let at = 0; at < 9_999; at += 1) tryOf(`other ${at}`)
    expect(() => tryOf()).toThrow(refused(10))
    tryOf('another')
    tryOf()
  })
})
