import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type AccessTokens, createAccessTokens } from '../../../src/core/auth/access-tokens.ts'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import { AppError } from '../../../src/core/errors.ts'
import {
  FAILED_ATTEMPT_POLICY,
  createFailedAttemptLimiter,
} from '../../../src/core/auth/failed-attempt-limiter.ts'
import { createJwtUsers } from '../../../src/core/auth/jwt-users.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

const alice = parseUserId('alice')
const address = parseClientAddress('192.0.2.7')
const MAX_FAILED_ATTEMPTS = 5
const INVALID = { code: 'access_token_invalid' }
const TOO_MANY = { code: 'too_many_requests', facts: { retry_after: 60 } }

interface Bed {
  readonly tokens: AccessTokens
  /** Statements that looked up tokens, and JWTs that were verified, since the last time. */
  readonly counts: () => {
    readonly lookups: number
    readonly jwts: number
  }
  readonly issue: () => Promise<string>
  /** Is wrong until the address is blocked. */
  readonly block: () => Promise<void>
}

async function openBed(core: TestCore, users: Partial<UserStores> = {}): Promise<Bed> {
  await createTestUser(core)
  let [lookups, jwts] = [0, 0]
  const counted: UserStores = {
    ...core.users,
    findAccessTokenUser(sha256) {
      lookups += 1
      return core.users.findAccessTokenUser(sha256)
    },
    ...users,
  }
  const verifier = {
    async verify(jwt: string) {
      jwts += 1
      if (!jwt.startsWith('good')) throw new AppError('access_token_invalid', 'It is not valid.')
      return { userId: alice, expiresInMs: 60_000 }
    },
  }
  const clock = () => core.clock.now
  const policy = { ...FAILED_ATTEMPT_POLICY, maxFailedAttempts: MAX_FAILED_ATTEMPTS }
  const tokens = createAccessTokens({
    users: counted,
    jwtUsers: createJwtUsers({ users: counted, verifier, createsUsers: false }),
    failedAttempts: createFailedAttemptLimiter({ policy, clock }),
    cacheMs: 5000,
    clock,
  })
  return {
    tokens,
    counts() {
      const counts = { lookups, jwts }
      ;[lookups, jwts] = [0, 0]
      return counts
    },
    async issue() {
      const terms = { userId: alice, label: '', expiresInSeconds: undefined }
      return (await tokens.issue(terms)).secret
    },
    async block() {
      for (let attempt = 0; attempt < MAX_FAILED_ATTEMPTS; attempt += 1) {
        await expect(tokens.verify(wrongToken(), address)).rejects.toMatchObject(INVALID)
      }
    },
  }
}

function wrongToken(): string {
  return `crt_${randomBytes(32).toString('base64url')}`
}

describe('C08 from an address that has been wrong too often', () => {
  it('malformed tokens are refused without a lookup', async () => {
    await using core = await openTestCore()
    const { tokens, block, counts } = await openBed(core)
    await block()
    expect(counts()).toMatchObject({ lookups: MAX_FAILED_ATTEMPTS })
    for (const secret of ['', 'crt_short', 'x'.repeat(10_000)]) {
      await expect(tokens.verify(secret, address)).rejects.toMatchObject(TOO_MANY)
    }
    expect(counts()).toEqual({ lookups: 0, jwts: 0 })
  })

  it('malformed tokens and JWTs that fail count as well', async () => {
    await using core = await openTestCore()
    const { tokens } = await openBed(core)
    for (const secret of ['', 'crt_short', 'a.b.c', 'a.b.d', 'x'.repeat(10_000)]) {
      await expect(tokens.verify(secret, address)).rejects.toMatchObject(INVALID)
    }
    await expect(tokens.verify('', address)).rejects.toMatchObject(TOO_MANY)
  })

  it('a hundred unknown tokens are looked up in 100 ms, and the others are refused, to come again soon', async () => {
    await using core = await openTestCore()
    const { tokens, block, counts, issue } = await openBed(core)
    await block()
    const good = await issue()
    counts()
    const tries = Array.from({ length: 105 }, () => tokens.verify(wrongToken(), address))
    const soon = { code: 'too_many_requests', facts: { retry_after: 1 } }
    await expect(tokens.verify(good, address)).rejects.toMatchObject(soon)
    const outcomes = await Promise.allSettled(tries)
    for (const outcome of outcomes.slice(0, 100))
      expect(outcome).toMatchObject({ reason: TOO_MANY })
    for (const outcome of outcomes.slice(100)) expect(outcome).toMatchObject({ reason: soon })
    expect(counts()).toEqual({ lookups: 100, jwts: 0 })
    core.clock.now += 100
    expect(await tokens.verify(good, address)).toMatchObject({ userId: alice })
  })

  it('a token that was good here is looked up at once, until it is good no more', async () => {
    await using core = await openTestCore()
    const { tokens, block, issue, counts } = await openBed(core)
    const good = await issue()
    await tokens.verify(good, address)
    core.clock.now += 10_000
    await block()
    counts()
    expect(await tokens.verify(good, address)).toMatchObject({ userId: alice })
    const others = Array.from({ length: 105 }, () => tokens.verify(wrongToken(), address))
    await Promise.allSettled(others)
    core.clock.now += 5_000
    expect(await tokens.verify(good, address)).toMatchObject({ userId: alice })
    const [token] = await tokens.list(alice)
    await tokens.revoke({ userId: alice, tokenId: token?.tokenId ?? '' })
    await expect(tokens.verify(good, address)).rejects.toMatchObject({ code: 'too_many_requests' })
  })

  it('a suspended user is told so', async () => {
    await using core = await openTestCore()
    const { tokens, block, issue } = await openBed(core)
    const good = await issue()
    await core.users.setUserStatus(alice, 'suspended')
    await block()
    await expect(tokens.verify(good, address)).rejects.toMatchObject({ code: 'user_suspended' })
  })

  it('JWTs are verified as far as a small budget goes', async () => {
    await using core = await openTestCore()
    const { tokens, block, counts } = await openBed(core)
    await tokens.verify('good.old.jwt', address)
    core.clock.now += 10_000
    await block()
    counts()
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const refused = tokens.verify(`a.b.${attempt}`, address)
      await expect(refused).rejects.toMatchObject({ code: 'too_many_requests' })
    }
    expect(counts().jwts).toBe(10)
    expect(await tokens.verify('good.old.jwt', address)).toMatchObject({ userId: alice })
    await expect(tokens.verify('good.new.jwt', address)).rejects.toMatchObject({
      facts: { retry_after: 1 },
    })
    core.clock.now += 100
    expect(await tokens.verify('good.new.jwt', address)).toMatchObject({ userId: alice })
  })

  it('a database that fails is told as that, and counts against nobody', async () => {
    await using core = await openTestCore()
    const failing = () => Promise.reject(outage())
    const { tokens } = await openBed(core, { findAccessTokenUser: failing })
    for (let attempt = 0; attempt < 3 * MAX_FAILED_ATTEMPTS; attempt += 1) {
      const refused = tokens.verify(wrongToken(), address)
      await expect(refused).rejects.toMatchObject({ code: 'unavailable' })
    }
    await expect(tokens.verify('', address)).rejects.toMatchObject(INVALID)
  })
})

describe('where nobody says which address a token comes from', () => {
  it('nothing is counted', async () => {
    await using core = await openTestCore()
    const { tokens } = await openBed(core)
    for (let attempt = 0; attempt < 3 * MAX_FAILED_ATTEMPTS; attempt += 1) {
      await expect(tokens.verify('', undefined)).rejects.toMatchObject(INVALID)
    }
  })
})
