import { describe, expect, it } from 'vitest'
import { createAccessTokens, createLastUsed } from '../../../src/core/auth/access-tokens.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'

type Uses = Parameters<UserStores['recordAccessTokenUses']>[0]

const alice = parseUserId('alice')

/** Collects in front of a store that keeps what it is told, or fails. */
async function openUses(core: TestCore, options: { fails?: boolean } = {}) {
  const clock = { now: 0 }
  const calls: Uses[] = []
  const recordAccessTokenUses = async (uses: Uses): Promise<void> => {
    calls.push(uses)
    if (options.fails === true) throw outage()
  }
  const users = { ...core.users, recordAccessTokenUses }
  return { uses: createLastUsed(users, () => clock.now), clock, calls }
}

describe('the uses of access tokens', () => {
  it('are written once for any number of requests, as old as the last of them', async () => {
    await using core = await openTestCore()
    const { uses, clock, calls } = await openUses(core)
    for (let request = 0; request < 1000; request++) {
      clock.now += 10
      uses.note('a')
    }
    uses.note('b')
    clock.now += 250.4
    expect(calls).toEqual([])
    await uses.record()
    expect(calls).toEqual([
      [
        { sha256: 'a', agoMs: 250 },
        { sha256: 'b', agoMs: 250 },
      ],
    ])
  })

  it('are not written again without another request', async () => {
    await using core = await openTestCore()
    const { uses, calls } = await openUses(core)
    uses.note('a')
    await uses.record()
    await uses.record()
    expect(calls).toHaveLength(1)
  })

  it('are written in pages of 500', async () => {
    await using core = await openTestCore()
    const { uses, calls } = await openUses(core)
    for (let at = 0; at < 1001; at++) uses.note(`${at}`)
    await uses.record()
    expect(calls.map(({ length }) => length)).toEqual([500, 500, 1])
  })

  it('take memory for 50000 tokens and no more', async () => {
    await using core = await openTestCore()
    const { uses, calls } = await openUses(core)
    for (let at = 0; at < 50_100; at++) uses.note(`${at}`)
    uses.note('0')
    await uses.record()
    expect(calls.flat()).toHaveLength(50_000)
  })

  it('are forgotten when they can not be written, and it is told', async () => {
    await using core = await openTestCore()
    const { uses, calls } = await openUses(core, { fails: true })
    uses.note('a')
    await expect(uses.record()).rejects.toMatchObject({ code: 'unavailable' })
    await uses.record()
    expect(calls).toHaveLength(1)
  })
})

describe('the last use of an access token', () => {
  it('is when it was last verified, also from memory', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const tokens = createAccessTokens({ users: core.users, clock: () => core.clock.now })
    const { secret } = await tokens.issue({ userId: alice, label: '', expiresInSeconds: undefined })
    await tokens.verify(secret)
    core.clock.now += 1000
    await tokens.verify(secret)
    const usedAt = core.clock.now
    core.clock.now += 500
    await tokens.recordUses()
    expect(await tokens.list(alice)).toMatchObject([{ lastUsedAt: usedAt }])
  })

  it('stays unknown while it is only refused', async () => {
    await using core = await openTestCore()
    await createTestUser(core)
    const tokens = createAccessTokens({ users: core.users })
    const { secret } = await tokens.issue({ userId: alice, label: '', expiresInSeconds: undefined })
    await core.users.setUserStatus(alice, 'suspended')
    await expect(tokens.verify(secret)).rejects.toMatchObject({ code: 'user_suspended' })
    await tokens.recordUses()
    expect(await tokens.list(alice)).toMatchObject([{ lastUsedAt: undefined }])
  })
})
