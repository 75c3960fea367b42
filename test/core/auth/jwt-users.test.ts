import { describe, expect, it } from 'vitest'
import { type AccessTokens, createAccessTokens } from '../../../src/core/auth/access-tokens.ts'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createJwtUsers } from '../../../src/core/auth/jwt-users.ts'
import type { JwtVerifier } from '../../../src/core/auth/jwt-verifier.ts'
import { isUserId, parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'
import { readUsage } from '../../support/read-usage.ts'

const alice = parseUserId('alice')
const ADDRESS = parseClientAddress('192.0.2.7')
const invalid = { code: 'access_token_invalid', facts: {} }

/** An identity provider of which a JWT `header.<user id>.signature` is valid for `expiresInMs`. */
function openProvider(options: { expiresInMs?: number } = {}) {
  const { expiresInMs = 60_000 } = options
  const asked: string[] = []
  const verifier: JwtVerifier = {
    async verify(jwt) {
      asked.push(jwt)
      const userId = jwt.split('.')[1] ?? ''
      if (userId === 'unreachable') throw outage()
      if (!isUserId(userId)) throw new AppError('access_token_invalid', 'It is not valid.')
      return { userId, expiresInMs }
    },
  }
  return { verifier, asked }
}

interface Options {
  readonly createsUsers?: boolean
  readonly verifier?: JwtVerifier
}

function openTokens(core: TestCore, options: Options = {}): AccessTokens {
  const { createsUsers = false, verifier = openProvider().verifier } = options
  const { users } = core
  const jwtUsers = createJwtUsers({ users, verifier, createsUsers })
  return createAccessTokens({ users, jwtUsers, clock: () => core.clock.now })
}

describe('a JWT', () => {
  it('stands for the user of its sub', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const user = await openTokens(core).verify('a.alice.b')
    expect(user).toEqual(await core.users.findUser(alice))
  })

  it('is invalid where no identity provider is set', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const tokens = createAccessTokens({ users: core.users })
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject(invalid)
  })

  it.each([
    ['of an unknown user', 'a.nobody.b', invalid],
    ['that the verifier refuses', 'a.me.b', invalid],
    ['that can not be verified now', 'a.unreachable.b', { code: 'unavailable' }],
  ])('%s is told so', async (_which, jwt, problem) => {
    await using core = await openTestCore()
    await expect(openTokens(core).verify(jwt)).rejects.toMatchObject(problem)
    expect(
      await core.ledger.listAccounts({
        prefix: parseUserIdPrefix(''),
        after: undefined,
        limit: 10,
      }),
    ).toEqual([])
  })

  it('a JWT of a suspended user is user_suspended, one of a deleted user invalid', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const tokens = openTokens(core, { createsUsers: true })
    await core.users.setUserStatus(alice, 'suspended')
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject({ code: 'user_suspended' })
    await core.users.deleteUser(alice)
    tokens.forgetUser(alice)
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject(invalid)
  })

  it('a good JWT is no guess of its address while its user is purged, or unknown', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    await core.users.deleteUser(alice)
    const guessed: string[] = []
    const failedAttempts = {
      blockedMs: () => 0,
      note: (from: string) => void guessed.push(from),
      share: async () => undefined,
      forgetExpired: async () => undefined,
    }
    const { users } = core
    const { verifier } = openProvider()
    for (const createsUsers of [true, false]) {
      const jwtUsers = createJwtUsers({ users, verifier, createsUsers })
      const tokens = createAccessTokens({ users, jwtUsers, failedAttempts })
      await expect(tokens.verify('a.alice.b', ADDRESS)).rejects.toMatchObject(invalid)
    }
    const jwtUsers = createJwtUsers({ users, verifier, createsUsers: false })
    const tokens = createAccessTokens({ users, jwtUsers, failedAttempts })
    await expect(tokens.verify('a.nobody.b', ADDRESS)).rejects.toMatchObject(invalid)
    expect(guessed).toEqual([])
    await expect(tokens.verify('a.me.b', ADDRESS)).rejects.toMatchObject(invalid)
    expect(guessed).toEqual([ADDRESS])
  })

  it('is verified again after 5 s, and its user is read again', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const { verifier, asked } = openProvider()
    const tokens = openTokens(core, { verifier })
    await tokens.verify('a.alice.b')
    await core.users.setUserStatus(alice, 'suspended')
    core.clock.now += 4999
    await tokens.verify('a.alice.b')
    expect(asked).toHaveLength(1)
    core.clock.now += 1
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject({ code: 'user_suspended' })
  })

  it('is verified again when it has expired, if that is sooner', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const { verifier, asked } = openProvider({ expiresInMs: 2000 })
    const tokens = openTokens(core, { verifier })
    await tokens.verify('a.alice.b')
    core.clock.now += 2000
    await tokens.verify('a.alice.b')
    expect(asked).toHaveLength(2)
  })

  it('is not even verified when it is malformed or longer than 8 KiB', async () => {
    await using core = await openTestCore()
    const { verifier, asked } = openProvider()
    const tokens = openTokens(core, { verifier })
    const [alike, long] = [
      ['a.b', 'a.b.c.d', 'a.b.', '.b.c', 'a.b!.c', 'a.b.c\n'],
      'x'.repeat(8189),
    ]
    for (const text of [...alike, '', 'crt_short', `a.b.${long}`]) {
      await expect(tokens.verify(text)).rejects.toMatchObject(invalid)
    }
    expect(asked).toEqual([])
  })
})

describe('where users appear by themselves', () => {
  it('the first JWT makes its user, and later ones find them', async () => {
    await using core = await openTestCore()
    const tokens = openTokens(core, { createsUsers: true })
    const user = await tokens.verify('a.alice.b')
    expect(await readUsage(core.ledger, alice)).toMatchObject({ used: 0, capacity: 1000 })
    expect(await tokens.verify('a.alice.c')).toEqual(user)
  })

  it('many first JWTs at once make one user', async () => {
    await using core = await openTestCore()
    const tokens = openTokens(core, { createsUsers: true })
    const jwts = Array.from({ length: 10 }, (_, at) => `a.alice.${at}`)
    const users = await Promise.all(jwts.map((jwt) => tokens.verify(jwt)))
    expect(new Set(users.map(({ createdAt }) => createdAt)).size).toBe(1)
    expect(
      await core.ledger.listAccounts({
        prefix: parseUserIdPrefix(''),
        after: undefined,
        limit: 10,
      }),
    ).toHaveLength(1)
  })

  it('an invalid JWT makes none', async () => {
    await using core = await openTestCore()
    const verifier: JwtVerifier = {
      verify: () => Promise.reject(new AppError('access_token_invalid', 'It is not valid.')),
    }
    const tokens = openTokens(core, { createsUsers: true, verifier })
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject(invalid)
    expect(await core.users.findUser(alice)).toBeUndefined()
  })

  it('a user who is deleted between the look and the making is invalid', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    await core.users.deleteUser(alice)
    const users = { ...core.users, findUser: async () => undefined }
    const { verifier } = openProvider()
    const jwtUsers = createJwtUsers({ users, verifier, createsUsers: true })
    const tokens = createAccessTokens({ users, jwtUsers })
    await expect(tokens.verify('a.alice.b')).rejects.toMatchObject(invalid)
  })
})
