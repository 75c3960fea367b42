import { describe, expect, it } from 'vitest'
import { createAccessTokens } from '../../../src/core/auth/access-tokens.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createJwtUsers } from '../../../src/core/auth/jwt-users.ts'
import type { JwtVerifier } from '../../../src/core/auth/jwt-verifier.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, settle, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

const alice = parseUserId('alice')
const invalid = { code: 'access_token_invalid' }
const suspended = { code: 'user_suspended' }
const JWT = 'a.alice.b'

/** JWTs of the user `alice` that expire at `expiresAt`, by the clock of the test. */
function providerOf(core: TestCore, expiresAt: number): JwtVerifier {
  return {
    async verify(_jwt, { evenExpired } = { evenExpired: false }) {
      const expiresInMs = expiresAt - core.clock.now
      if (expiresInMs > 0 || evenExpired) return { userId: alice, expiresInMs }
      throw new AppError('access_token_invalid', 'It has expired.')
    },
  }
}

/**
 * The use cases of an instance that takes JWTs of `alice` for a minute, and makes the users of those that are valid.
 */
function openInstance(core: TestCore) {
  const { users, clock } = core
  const verifier = providerOf(core, clock.now + 60_000)
  const jwtUsers = createJwtUsers({ users, verifier, createsUsers: true })
  return createAccessTokens({ users, jwtUsers, clock: () => clock.now })
}

async function openTokens(core: TestCore) {
  await createTestUser(core)
  const tokens = openInstance(core)
  const terms = { userId: alice, label: 'phone', expiresInSeconds: 60 }
  const issued = await tokens.issue(terms)
  return { tokens, issued, other: openInstance(core) }
}

describe('a caller who was let in', () => {
  it('is the user and when they were created', async () => {
    await using core = await openTestCore()
    const { tokens, issued } = await openTokens(core)
    const caller = await tokens.authenticate(issued.secret)
    expect(caller).toMatchObject({ userId: alice, userCreatedAt: core.clock.now })
    await caller.reverify()
  })

  it('may act no more at once when the token is revoked here, and after 5 s when elsewhere', async () => {
    await using core = await openTestCore()
    const { tokens, issued, other } = await openTokens(core)
    const [here, there] = [
      await tokens.authenticate(issued.secret),
      await other.authenticate(issued.secret),
    ]
    await tokens.revoke(issued)
    await expect(here.reverify()).rejects.toMatchObject(invalid)
    core.clock.now += 4_999
    await there.reverify()
    core.clock.now += 1
    await expect(there.reverify()).rejects.toMatchObject(invalid)
  })

  it.each(['token', 'JWT'])('may act no more when suspended or deleted (%s)', async (kind) => {
    await using core = await openTestCore()
    const { tokens, issued } = await openTokens(core)
    const caller = await tokens.authenticate(kind === 'JWT' ? JWT : issued.secret)
    await core.users.setUserStatus(alice, 'suspended')
    tokens.forgetUser(alice)
    await expect(caller.reverify()).rejects.toMatchObject(suspended)
    await core.users.deleteUser(alice)
    tokens.forgetUser(alice)
    await expect(caller.reverify()).rejects.toMatchObject(invalid)
  })

  it.each(['token', 'JWT'])('is not the next user of the same id (%s)', async (kind) => {
    await using core = await openTestCore()
    const { tokens, issued } = await openTokens(core)
    const caller = await tokens.authenticate(kind === 'JWT' ? JWT : issued.secret)
    await core.users.deleteUser(alice)
    await core.ledger.purgeDeletedUsers({ limit: 10 })
    core.clock.now += 5_000
    expect(await core.users.createUser(alice)).toMatchObject({ created: true })
    await expect(caller.reverify()).rejects.toMatchObject(invalid)
  })

  it.each(['token', 'JWT'])('may finish when the %s has expired since', async (kind) => {
    await using core = await openTestCore()
    const { tokens, issued } = await openTokens(core)
    const secret = kind === 'JWT' ? JWT : issued.secret
    const caller = await tokens.authenticate(secret)
    core.clock.now += 60_000
    await expect(tokens.authenticate(secret)).rejects.toMatchObject(invalid)
    await caller.reverify()
    await core.users.setUserStatus(alice, 'suspended')
    await expect(caller.reverify()).rejects.toMatchObject(suspended)
    await core.users.deleteUser(alice)
    await expect(caller.reverify()).rejects.toMatchObject(invalid)
    await settle(core)
    await expect(caller.reverify()).rejects.toMatchObject(invalid)
    expect(await core.users.findUser(alice)).toBeUndefined()
  })

  it('may not finish when the token was revoked after it had expired', async () => {
    await using core = await openTestCore()
    const { tokens, issued } = await openTokens(core)
    const caller = await tokens.authenticate(issued.secret)
    core.clock.now += 60_000
    await tokens.revoke(issued)
    await expect(caller.reverify()).rejects.toMatchObject(invalid)
  })

  it('is told that it can not be found out', async () => {
    await using core = await openTestCore()
    const { issued } = await openTokens(core)
    let isOut = false
    const users = {
      ...core.users,
      findAccessTokenUser: (sha256: string) =>
        isOut ? Promise.reject(outage()) : core.users.findAccessTokenUser(sha256),
    }
    const caller = await createAccessTokens({ users, cacheMs: 0 }).authenticate(issued.secret)
    isOut = true
    await expect(caller.reverify()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
