import { beforeEach, describe, expect, it } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import {
  createFailedAttemptLimiter,
  FAILED_ATTEMPT_POLICY,
} from '../../../src/core/auth/failed-attempt-limiter.ts'
import { sha256 } from '../../../src/core/auth/sha256.ts'
import { createOperators, type Operators } from '../../../src/core/operators/operators.ts'
import type { OperatorLedger } from '../../../src/core/operators/operator-ledger.ts'

const TOKEN = `cro_${'t'.repeat(43)}`
const DANA = { name: 'dana', role: 'viewer', createdAt: 0 } as const
const HERE = parseClientAddress('203.0.113.7')
const ELSEWHERE = parseClientAddress('203.0.113.8')

describe('the token of an operator', () => {
  let now: number
  let known: Set<string>
  let digests: string[]
  let operators: Operators
  beforeEach(() => {
    now = 1_000
    known = new Set([sha256(TOKEN)])
    digests = []
    const clock = () => now
    const failedAttempts = createFailedAttemptLimiter({ clock })
    const ledger = {
      async findOperatorOfToken(digest: string) {
        digests.push(digest)
        return known.has(digest) ? DANA : undefined
      },
    } as OperatorLedger
    operators = createOperators({ ledger, failedAttempts, clock })
    for (let at = 0; at < FAILED_ATTEMPT_POLICY.maxFailedAttempts; at += 1) {
      failedAttempts.note(HERE)
    }
  })

  const find = (token: string, address = HERE) => operators.findByToken(token, address)
  const guess = (at: number) => `cro_${String(at).padStart(43, 'g')}`
  const TOO_MANY = { code: 'too_many_requests', facts: { retry_after: 1 } }

  it('is looked up each time it is shown', async () => {
    expect(await find(TOKEN, ELSEWHERE)).toEqual(DANA)
    known.clear()
    expect(await find(TOKEN, ELSEWHERE)).toBeUndefined()
    expect(digests).toEqual([sha256(TOKEN), sha256(TOKEN)])
  })

  it.each(['', 'cro_', TOKEN.slice(1), TOKEN.slice(0, -1), `${TOKEN}x`, `crt_${'t'.repeat(43)}`])(
    'is not looked up in another form: %j',
    async (token) => {
      expect(await find(token, ELSEWHERE)).toBeUndefined()
      expect(digests).toEqual([])
    },
  )

  it('is looked up a hundred times in 100 ms for blocked addresses', async () => {
    for (let at = 0; at < 100; at += 1) expect(await find(guess(at))).toBeUndefined()
    await expect(find(guess(100))).rejects.toMatchObject(TOO_MANY)
    await expect(find(TOKEN)).rejects.toMatchObject(TOO_MANY)
    expect(digests).toHaveLength(100)
    expect(await find(guess(101), ELSEWHERE)).toBeUndefined()
    now += 100
    expect(await find(TOKEN)).toEqual(DANA)
  })

  it('passes from a blocked address once it was right, until it is wrong', async () => {
    expect(await find(TOKEN)).toEqual(DANA)
    for (let at = 1; at < 100; at += 1) await find(guess(at))
    await expect(find(guess(100))).rejects.toMatchObject(TOO_MANY)
    expect(await find(TOKEN)).toEqual(DANA)
    known.clear()
    expect(await find(TOKEN)).toBeUndefined()
    await expect(find(TOKEN)).rejects.toMatchObject(TOO_MANY)
  })
})
