import { describe, expect, it } from 'vitest'
import { createAccessTokens } from '../../../src/core/auth/access-tokens.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createJwtUsers } from '../../../src/core/auth/jwt-users.ts'
import type { JwtVerifier } from '../../../src/core/auth/jwt-verifier.ts'
import { narrowPrecondition } from '../../../src/core/auth/scope.ts'
import {
  assertMay,
  nameFor,
  operatorIn,
  scopeOfLink,
  shownName,
  type Visitor,
} from '../../../src/core/auth/subject.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import type { Link } from '../../../src/core/links/link.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createUsers } from '../../../src/core/users/users.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, settle, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'
import { outcomeOf } from '../ledger/fixture.ts'

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

describe('the user of a token', () => {
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

/** Of a link of `alice` with this target. */
function visitorOf({ kind, target }: Pick<Link, 'kind' | 'target'>): Visitor {
  const link: Link = {
    linkId: 'link',
    kind,
    target,
    label: '',
    createdAt: 0,
    expiresAt: undefined,
    maxUses: undefined,
    uses: 0,
    useFraction: 0,
    passwordHash: undefined,
    maxBytes: undefined,
    maxFiles: undefined,
    receivedBytes: 0,
  }
  const account = { userId: alice, userCreatedAt: 0, credential: 'link', deviceId: undefined }
  const reverify = async (): Promise<void> => undefined
  return { kind: 'visitor', ...account, link, scope: scopeOfLink(link), reverify }
}

const [a, b] = [parseFileName('a'), parseFileName('b')]
const prefix = parseFileNamePrefix('in-')
const notFound = { code: 'not_found' }

describe('the visitor of a link', () => {
  it('reads its files and does nothing else', () => {
    const visitor = visitorOf({ kind: 'download', target: { prefix } })
    assertMay(visitor, ['read'])
    for (const action of ['create', 'replace', 'delete', 'history', 'share'] as const) {
      expect(() => assertMay(visitor, [action])).toThrow(expect.objectContaining(notFound))
    }
  })

  it('creates files by a drop link, replaces none and reads none', () => {
    const visitor = visitorOf({ kind: 'drop', target: { prefix } })
    assertMay(visitor, ['create', 'replace'])
    expect(() => assertMay(visitor, ['read'])).toThrow(expect.objectContaining(notFound))
    expect(narrowPrecondition(visitor, undefined)).toEqual({ ifNoneMatch: '*' })
  })

  it('sees names without the prefix of the link, and names that are nothing else not at all', () => {
    const visitor = visitorOf({ kind: 'download', target: { prefix } })
    expect(nameFor(visitor, a)).toBe('in-a')
    expect(shownName(visitor, parseFileName('in-a'))).toBe('a')
    expect(shownName(visitor, parseFileName('in-'))).toBeUndefined()
    const long = parseFileName('a'.repeat(255))
    expect(() => nameFor(visitor, long)).toThrow(expect.objectContaining(notFound))
    const drop = visitorOf({ kind: 'drop', target: { prefix } })
    expect(() => nameFor(drop, long)).toThrow(
      expect.objectContaining({ code: 'invalid_file_name' }),
    )
  })

  it('sees the one file of the link', () => {
    const visitor = visitorOf({ kind: 'download', target: { name: a } })
    expect([nameFor(visitor, a), shownName(visitor, a)]).toEqual(['a', 'a'])
    expect(() => nameFor(visitor, b)).toThrow(expect.objectContaining(notFound))
  })
})

const AREAS = ['files', 'history', 'links', 'uploads'] as const

describe('an operator', () => {
  it.each([
    ['active', AREAS],
    ['suspended', ['files', 'uploads']],
    ['deleted', ['uploads']],
  ] as const)('acts in the account of a user who is %s, for %j', async (status, open) => {
    await using core = await openTestCore()
    await createTestUser(core)
    if (status === 'suspended') await core.users.setUserStatus(alice, status)
    if (status === 'deleted') await core.users.deleteUser(alice)
    const users = createUsers({ users: core.users, ledger: core.ledger })
    const outcomes = AREAS.map((area) => outcomeOf(operatorIn(users, alice, area)))
    const refused = status === 'suspended' ? 'user_suspended' : 'not_found'
    const expected = AREAS.map((area) => (open.some((each) => each === area) ? 'ok' : refused))
    expect(await Promise.all(outcomes)).toEqual(expected)
  })

  it('is told that there is no such user', async () => {
    await using core = await openTestCore()
    const users = createUsers({ users: core.users, ledger: core.ledger })
    await expect(operatorIn(users, alice, 'files')).rejects.toMatchObject(notFound)
  })
})
