import { describe, expect, it } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import {
  FAILED_ATTEMPT_POLICY,
  createFailedAttemptLimiter,
} from '../../../src/core/auth/failed-attempt-limiter.ts'

const policy = { ...FAILED_ATTEMPT_POLICY, maxFailedAttempts: 10 }
const address = parseClientAddress('192.0.2.7')
const neighbour = parseClientAddress('192.0.2.8')

function openLimiter(maxAddresses = 100) {
  const time = { now: 12_345 }
  const limiter = createFailedAttemptLimiter({ policy, maxAddresses, clock: () => time.now })
  const attempt = (times: number, from = address) => {
    for (let attempts = 0; attempts < times; attempts += 1) limiter.note(from)
  }
  return { limiter, time, attempt }
}

describe('C08 the limiter of failed attempts', () => {
  it('blocks an address at once, and no other', () => {
    const { limiter, time, attempt } = openLimiter()
    attempt(9)
    expect(limiter.blockedMs(address)).toBe(0)
    attempt(1)
    expect(limiter.blockedMs(address)).toBe(60_000)
    expect(limiter.blockedMs(neighbour)).toBe(0)
    time.now += 59_999
    expect(limiter.blockedMs(address)).toBe(1)
    time.now += 1
    expect(limiter.blockedMs(address)).toBe(0)
  })

  it('counts nothing during a block', () => {
    const { limiter, time, attempt } = openLimiter()
    attempt(1000)
    time.now += 60_000
    attempt(9)
    expect(limiter.blockedMs(address)).toBe(0)
    attempt(1)
    expect(limiter.blockedMs(address)).toBe(120_000)
  })

  it('remembers so many addresses, and forgets those that were quiet longest', () => {
    const { limiter, attempt } = openLimiter(3)
    attempt(10)
    attempt(10, neighbour)
    attempt(1, parseClientAddress('192.0.2.100'))
    expect(limiter.blockedMs(address)).toBe(60_000)
    attempt(1, parseClientAddress('192.0.2.101'))
    expect(limiter.blockedMs(address)).toBe(60_000)
    expect(limiter.blockedMs(neighbour)).toBe(0)
  })
})
