import { beforeEach, describe, expect, it } from 'vitest'
import type { ClientAddress } from '../../../src/core/auth/client-address.ts'
import { createGuessLimiter, type GuessLimiter } from '../../../src/core/links/password-checks.ts'

describe('the passwords of a link', () => {
  let now: number
  let limiter: GuessLimiter
  beforeEach(() => {
    now = 1_000_000
    limiter = createGuessLimiter(() => now)
  })

  const from = (visitor: number, link = 'link') => ({
    link,
    address: `192.0.2.${visitor}` as ClientAddress,
  })
  const tries = (count: number, visitor: number) => {
    for (let at = 0; at < count; at += 1) limiter.beginTry(from(visitor))
  }
  const triesOfAll = () => {
    for (let visitor = 1; visitor <= 5; visitor += 1) tries(20, visitor)
  }
  const refused = (retry_after: number) =>
    expect.objectContaining({ code: 'too_many_requests', facts: { retry_after } }) as Error

  it('are tried 20 times from an address, and then once every 10 s', () => {
    tries(20, 1)
    expect(() => limiter.beginTry(from(1))).toThrow(refused(10))
    expect(() => limiter.assertMayTry(from(1))).toThrow(refused(10))
    now += 9_000
    expect(() => limiter.beginTry(from(1))).toThrow(refused(1))
    now += 1_000
    tries(1, 1)
    expect(() => limiter.beginTry(from(1))).toThrow(refused(10))
  })

  it('are tried 100 times from all addresses, and then once every 10 s', () => {
    triesOfAll()
    expect(() => limiter.beginTry(from(11))).toThrow(refused(10))
    expect(() => limiter.assertMayTry(from(11))).toThrow(refused(10))
    now += 10_000
    tries(1, 11)
    expect(() => limiter.beginTry(from(12))).toThrow(refused(10))
    now += 3_600_000
    triesOfAll()
    expect(() => limiter.beginTry(from(11))).toThrow(refused(10))
  })

  it('are not used up for others by one address, however long it tries', () => {
    for (let second = 0; second < 3_600; second += 1, now += 1_000) {
      try {
        tries(1, 1)
      } catch {}
      expect(() => limiter.assertMayTry(from(2))).not.toThrow()
    }
  })

  it('right passwords of a link do not count, and make no room for wrong ones', () => {
    tries(19, 1)
    for (let at = 0; at < 100; at += 1) {
      tries(1, 1)
      limiter.giveBack(from(1))
    }
    tries(1, 1)
    expect(() => limiter.beginTry(from(1))).toThrow(refused(10))
    now += 10_000
    tries(1, 1)
    limiter.giveBack(from(1))
    tries(1, 1)
    expect(() => limiter.beginTry(from(1))).toThrow(refused(10))
  })

  it('passwords of other links do not count, and at most 10,000 links are remembered', () => {
    triesOfAll()
    for (let at = 0; at < 9_999; at += 1) limiter.beginTry(from(at % 200, `other ${at}`))
    expect(() => limiter.beginTry(from(11))).toThrow(refused(10))
    limiter.beginTry(from(11, 'another'))
    limiter.beginTry(from(11))
  })
})
