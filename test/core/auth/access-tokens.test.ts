import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AccessTokens, createAccessTokens } from '../../../src/core/auth/access-tokens.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

const alice = parseUserId('alice')
const invalid = { code: 'access_token_invalid', facts: {} }

async function openTokens(core: TestCore): Promise<AccessTokens> {
  await createTestUser(core)
  return createAccessTokens({ users: core.users, clock: () => core.clock.now })
}

function terms(options: { label?: string; expiresInSeconds?: number } = {}) {
  const { label = 'phone', expiresInSeconds } = options
  return { userId: alice, label, expiresInSeconds }
}

describe('an issued access token', () => {
  it('is crt_ and 43 base64url characters, and another one every time', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const secrets = new Set<string>()
    for (let issued = 0; issued < 20; issued++) secrets.add((await tokens.issue(terms())).secret)
    expect(secrets.size).toBe(20)
    for (const secret of secrets) expect(secret).toMatch(/^crt_[A-Za-z0-9_-]{43}$/)
  })

  it('is stored as its SHA-256 only', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { secret } = await tokens.issue(terms())
    const rows = await core.database.kysely.selectFrom('access_tokens').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.sha256).toBe(createHash('sha256').update(secret).digest('hex'))
    expect(JSON.stringify(rows)).not.toContain(secret.slice(4))
  })

  it('ends after its time, to the millisecond', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { secret, expiresAt } = await tokens.issue(terms({ expiresInSeconds: 2 }))
    expect(expiresAt).toBe(core.clock.now + 2000)
    core.clock.now += 1999
    expect(await tokens.verify(secret)).toMatchObject({ userId: alice })
    core.clock.now += 1
    await expect(tokens.verify(secret)).rejects.toMatchObject(invalid)
  })

  it('a token of a suspended user is user_suspended until the suspension ends', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { secret } = await tokens.issue(terms())
    await core.users.setUserStatus(alice, 'suspended')
    await expect(tokens.verify(secret)).rejects.toMatchObject({ code: 'user_suspended' })
    await core.users.setUserStatus(alice, 'active')
    tokens.forgetUser(alice)
    expect(await tokens.verify(secret)).toMatchObject({ userId: alice })
  })

  it('a revoked token does not tell that its user is suspended', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const issued = await tokens.issue(terms())
    await core.users.revokeAccessToken(issued)
    await core.users.setUserStatus(alice, 'suspended')
    await expect(tokens.verify(issued.secret)).rejects.toMatchObject(invalid)
  })

  it('a token of a deleted user is invalid', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { secret } = await tokens.issue(terms())
    await core.users.deleteUser(alice)
    await expect(tokens.verify(secret)).rejects.toMatchObject(invalid)
  })
})

describe('verify', () => {
  it('knows within 5 s what another instance has revoked, and asks the database no sooner', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const issued = await tokens.issue(terms())
    await tokens.verify(issued.secret)
    await core.users.revokeAccessToken(issued)
    core.clock.now += 4999
    expect(await tokens.verify(issued.secret)).toMatchObject({ userId: alice })
    core.clock.now += 1
    await expect(tokens.verify(issued.secret)).rejects.toMatchObject(invalid)
  })

  it('asks again after a revocation whose outcome is unknown', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const revokeAccessToken: UserStores['revokeAccessToken'] = async (token) => {
      await core.users.revokeAccessToken(token)
      throw outage()
    }
    const tokens = createAccessTokens({ users: { ...core.users, revokeAccessToken } })
    const issued = await tokens.issue(terms())
    await tokens.verify(issued.secret)
    await expect(tokens.revoke(issued)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(tokens.verify(issued.secret)).rejects.toMatchObject(invalid)
  })

  it('refuses a token with anything before, after or in another case', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { secret } = await tokens.issue(terms())
    const near = [` ${secret}`, `${secret} `, `${secret}\n`, `${secret}A`, secret.slice(0, -1)]
    for (const text of [...near, secret.toUpperCase(), secret.slice(4), '']) {
      await expect(tokens.verify(text)).rejects.toMatchObject(invalid)
    }
  })

  it('refuses what is malformed without asking the database', async () => {
    await using core = await openTestCore()
    const findAccessTokenUser = (): Promise<never> => Promise.reject(outage())
    const tokens = createAccessTokens({ users: { ...core.users, findAccessTokenUser } })
    await expect(tokens.verify('crt_short')).rejects.toMatchObject(invalid)
    await expect(tokens.verify(`crt_${'A'.repeat(43)}`)).rejects.toThrow('An injected fault.')
  })

  it('refuses any other text (property)', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    await tokens.issue(terms())
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^crt_[A-Za-z0-9_-]{43}$/),
    )
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        await expect(tokens.verify(text)).rejects.toMatchObject(invalid)
      }),
    )
  })
})

describe('issue', () => {
  it.each([0, -1, 1.5, Number.NaN, Infinity, 1e15])(
    'refuses %d seconds, and names the parameter',
    async (expiresInSeconds) => {
      await using core = await openTestCore()
      const tokens = await openTokens(core)
      await expect(tokens.issue(terms({ expiresInSeconds }))).rejects.toMatchObject({
        code: 'invalid_parameter',
        facts: { parameter: 'expires_in' },
      })
      expect(await core.users.listAccessTokens({ userId: alice })).toEqual([])
    },
  )

  it('takes an expiry in a hundred years', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    const { expiresAt } = await tokens.issue(terms({ expiresInSeconds: 100 * 366 * 24 * 3600 }))
    expect(new Date(expiresAt ?? Number.NaN).toISOString()).toMatch(/^\d{4}-/)
  })

  it('takes a label of 200 characters, and refuses one of 201', async () => {
    await using core = await openTestCore()
    const tokens = await openTokens(core)
    expect(await tokens.issue(terms({ label: 'x'.repeat(200) }))).toHaveProperty('secret')
    await expect(tokens.issue(terms({ label: 'x'.repeat(201) }))).rejects.toMatchObject({
      code: 'invalid_parameter',
      facts: { parameter: 'label' },
    })
  })

  it.each(['a\0b', 'a\nb', '\u001b[2J', 'a\ud800'])(
    'refuses the label %j, which a database or a terminal does not take',
    async (label) => {
      await using core = await openTestCore()
      const tokens = await openTokens(core)
      await expect(tokens.issue(terms({ label }))).rejects.toMatchObject({
        code: 'invalid_parameter',
        facts: { parameter: 'label' },
      })
    },
  )
})
