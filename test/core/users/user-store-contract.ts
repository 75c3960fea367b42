import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_VALID_TOKENS } from '../../../src/core/auth/scope.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import type { AccessToken } from '../../../src/core/auth/access-token-store.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { tokenOf } from './access-tokens.ts'
import { count, grantOf, type LedgerHarness, outcomeOf } from '../ledger/fixture.ts'
import { readUsage } from '../../support/read-usage.ts'

/** The rules of the port `UserStores`. */
export function userStoreContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`user store on ${name}`, () => {
    let harness: LedgerHarness
    let users: UserStores
    let userId: UserId

    beforeAll(async () => {
      harness = await open()
      ;({ users } = harness)
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      userId = newId()
      await users.createUser(userId)
    })

    describe('users', () => {
      it('are made once, active, with figures of their own', async () => {
        const id = newId()
        expect(await users.findUser(id)).toBeUndefined()
        const { user, created } = await users.createUser(id)
        expect(created).toBe(true)
        expect(user).toEqual({ userId: id, status: 'active', createdAt: user.createdAt })
        expect(Math.abs(user.createdAt - harness.now())).toBeLessThan(5_000)
        expect(await users.createUser(id)).toEqual({ user, created: false })
        expect(await users.findUser(id)).toEqual(user)
        expect(await readUsage(harness.ledger, id)).toMatchObject({ used: 0, fileCount: 0 })
      })

      it('are made by one of many calls at once', async () => {
        const id = newId()
        const calls = await Promise.all(Array.from({ length: 10 }, () => users.createUser(id)))
        expect(calls.filter(({ created }) => created)).toHaveLength(1)
      })

      it('are suspended and active again, and stay so when asked to be made', async () => {
        expect(await users.setUserStatus(userId, 'suspended')).toMatchObject({
          status: 'suspended',
        })
        expect((await users.createUser(userId)).user.status).toBe('suspended')
        expect(await users.setUserStatus(userId, 'active')).toMatchObject({
          userId,
          status: 'active',
        })
      })

      it('deleted users can be deleted again but not otherwise changed', async () => {
        await users.deleteUser(userId)
        await users.deleteUser(userId)
        expect(await users.findUser(userId)).toMatchObject({ status: 'deleted' })
        expect(await outcomeOf(users.createUser(userId))).toBe('user_exists')
      })
    })

    describe('a user who is unknown or deleted', () => {
      it.each(['unknown', 'deleted'])(
        '%s: is not found by anything that needs one',
        async (kind) => {
          const id = newId()
          if (kind === 'deleted') {
            await users.createUser(id)
            await users.deleteUser(id)
          }
          const outcomes = await Promise.all(
            [
              users.setUserStatus(id, 'active'),
              users.addAccessToken(tokenOf(id)),
              users.listAccessTokens({ userId: id }),
              users.revokeAccessToken({ userId: id, tokenId: 'x' }),
              users.putGrant(grantOf(id, 'gift')),
              users.revokeGrant(grantOf(id, 'gift')),
              users.listGrants({ userId: id }),
            ].map(outcomeOf),
          )
          expect(count(outcomes, 'not_found')).toBe(outcomes.length)
          expect((await users.findUser(id))?.status).toBe(
            kind === 'deleted' ? 'deleted' : undefined,
          )
        },
      )

      it('unknown: cannot be deleted', async () => {
        expect(await outcomeOf(users.deleteUser(newId()))).toBe('not_found')
      })
    })

    describe('access tokens', () => {
      it('stand for their user until they expire', async () => {
        const token = tokenOf(userId)
        const expiresInMs = 60_000
        const added = await users.addAccessToken({ ...token, expiresInMs })
        expect(added).toEqual({
          tokenId: token.tokenId,
          userId,
          label: 'a label',
          createdAt: added.createdAt,
          expiresAt: added.createdAt + expiresInMs,
          revokedAt: undefined,
          lastUsedAt: undefined,
        })
        const found = await users.findAccessTokenUser(token.sha256)
        expect(found?.user).toEqual(await users.findUser(userId))
        expect(found?.expiresInMs).toBeGreaterThan(0)
        expect(found?.expiresInMs).toBeLessThanOrEqual(expiresInMs)
        const short = tokenOf(userId)
        const over = await users.addAccessToken({ ...short, expiresInMs: 10 })
        await harness.advance(20)
        expect(await users.findAccessTokenUser(short.sha256)).toBeUndefined()
        expect(await users.listAccessTokens({ userId })).toEqual(
          expect.arrayContaining([added, over]),
        )
      })

      it('are refused once revoked, and revoking again is no error', async () => {
        const token = tokenOf(userId)
        const kept = tokenOf(userId)
        await users.addAccessToken(token)
        await users.addAccessToken(kept)
        await users.revokeAccessToken(token)
        const first = (await users.listAccessTokens({ userId })).find(
          ({ tokenId }) => tokenId === token.tokenId,
        )
        expect(first?.revokedAt).toBeDefined()
        await harness.advance(3)
        await users.revokeAccessToken(token)
        expect(await users.listAccessTokens({ userId })).toContainEqual(first)
        expect(await users.findAccessTokenUser(token.sha256)).toBeUndefined()
        const found = await users.findAccessTokenUser(kept.sha256)
        expect(found).toEqual({
          user: await users.findUser(userId),
          expiresInMs: undefined,
          scope: undefined,
          tokenId: kept.tokenId,
          isJwt: false,
        })
      })

      it('are at most so many that are valid', async () => {
        const made = Array.from({ length: MAX_VALID_TOKENS }, () => tokenOf(userId))
        for (const token of made) await users.addAccessToken(token)
        const refused = outcomeOf(users.addAccessToken(tokenOf(userId)))
        expect(await refused).toBe('access_token_limit_exceeded')
        await users.revokeAccessToken({ userId, tokenId: made[0]?.tokenId ?? '' })
        expect(await outcomeOf(users.addAccessToken(tokenOf(userId)))).toBe('ok')
      })

      it("cannot be revoked by another's user id, or when there is none", async () => {
        const token = tokenOf(userId)
        await users.addAccessToken(token)
        const stranger = newId()
        await users.createUser(stranger)
        const stolen = users.revokeAccessToken({ userId: stranger, tokenId: token.tokenId })
        expect(await outcomeOf(stolen)).toBe('not_found')
        expect((await users.findAccessTokenUser(token.sha256))?.user.userId).toBe(userId)
      })

      it('tokens of a suspended user say so, those of a deleted or unknown one say nothing', async () => {
        const token = tokenOf(userId)
        await users.addAccessToken(token)
        await users.setUserStatus(userId, 'suspended')
        const found = await users.findAccessTokenUser(token.sha256)
        expect(found?.user.status).toBe('suspended')
        await users.deleteUser(userId)
        expect(await users.findAccessTokenUser(token.sha256)).toBeUndefined()
        expect(await users.findAccessTokenUser(tokenOf(userId).sha256)).toBeUndefined()
      })

      it('were last used when that is recorded, by the clock of the database', async () => {
        const [often, once, never] = [tokenOf(userId), tokenOf(userId), tokenOf(userId)]
        for (const token of [often, once, never]) await users.addAccessToken(token)
        const now = harness.now()
        await users.recordAccessTokenUses([
          { sha256: often.sha256, agoMs: 0 },
          { sha256: once.sha256, agoMs: 30_000 },
          { sha256: tokenOf(userId).sha256, agoMs: 0 },
        ])
        const used = await lastUses(users, userId)
        expect(used.get(never.tokenId)).toBeUndefined()
        expect(Math.abs((used.get(often.tokenId) ?? 0) - now)).toBeLessThan(5_000)
        expect(Math.abs((used.get(once.tokenId) ?? 0) + 30_000 - now)).toBeLessThan(5_000)
      })

      it('never were last used earlier than is known, whichever report comes last', async () => {
        const token = tokenOf(userId)
        await users.addAccessToken(token)
        const record = async (agoMs: number) => {
          await users.recordAccessTokenUses([{ sha256: token.sha256, agoMs }])
          return (await lastUses(users, userId)).get(token.tokenId) ?? 0
        }
        const first = await record(10_000)
        expect(await record(20_000)).toBe(first)
        expect(await record(1_000)).toBeGreaterThan(first)
      })

      it('are recorded as used 500 at a time, or none, by many instances at once', async () => {
        const tokens = Array.from({ length: 500 }, () => tokenOf(userId))
        for (const token of tokens.slice(0, 20)) await users.addAccessToken(token)
        const uses = tokens.map(({ sha256 }) => ({ sha256, agoMs: 5 }))
        await users.recordAccessTokenUses([])
        await Promise.all([
          users.recordAccessTokenUses(uses),
          users.recordAccessTokenUses(uses.toReversed()),
        ])
        expect([...(await lastUses(users, userId)).values()]).not.toContain(undefined)
      })

      it('are listed oldest first', async () => {
        const tokens = [tokenOf(userId), tokenOf(userId), tokenOf(userId)]
        for (const token of tokens) {
          await users.addAccessToken(token)
          await harness.advance(2)
        }
        const listed = (await users.listAccessTokens({ userId })).map(({ tokenId }) => tokenId)
        expect(listed).toEqual(tokens.map(({ tokenId }) => tokenId))
      })

      it('are listed in pages, also those made at the same time', async () => {
        for (let made = 0; made < 7; made += 1) await users.addAccessToken(tokenOf(userId))
        const all = await users.listAccessTokens({ userId })
        const pages = []
        for (let after: AccessToken | undefined; ;) {
          const page = await users.listAccessTokens({ userId, page: { after, limit: 3 } })
          pages.push(page)
          after = page.at(-1)
          if (after === undefined) break
        }
        expect(pages).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6), []])
      })

      it('are kept while they are valid; of those that have ended, the last 100 are kept', async () => {
        const expiring = Array.from({ length: 60 }, () => tokenOf(userId))
        const revoked = Array.from({ length: 45 }, () => tokenOf(userId))
        const valid = tokenOf(userId)
        for (const token of expiring) await users.addAccessToken({ ...token, expiresInMs: 1_000 })
        await users.addAccessToken({ ...valid, expiresInMs: 3_600_000 })
        await harness.advance(1_020)
        for (const token of revoked) {
          await users.addAccessToken(token)
          await users.revokeAccessToken(token)
        }
        const last = tokenOf(userId)
        await users.addAccessToken(last)
        const listed = await users.listAccessTokens({ userId })
        const kept = new Set(listed.map(({ tokenId }) => tokenId))
        expect(kept.size).toBe(102)
        for (const { tokenId } of [valid, last, ...revoked]) expect(kept).toContain(tokenId)
        const gone = expiring.find(({ tokenId }) => !kept.has(tokenId))
        expect(gone && (await outcomeOf(users.revokeAccessToken(gone)))).toBe('not_found')
      })
    })

    describe('grants', () => {
      it('count once, with their last terms, however often they are put', async () => {
        const grant = grantOf(userId, 'gift')
        const first = await users.putGrant({ ...grant, bytes: 10 })
        expect(first.created).toBe(true)
        const second = await users.putGrant({ ...grant, bytes: 20, model: 'x1', startsAt: 5 })
        expect(second).toEqual({
          created: false,
          grant: {
            source: 'promotion',
            reference: 'gift',
            bytes: 20,
            model: 'x1',
            startsAt: 5,
            endsAt: undefined,
            createdAt: first.grant.createdAt,
          },
        })
        expect((await readUsage(harness.ledger, userId))?.capacity).toBe(120)
        expect(await users.listGrants({ userId })).toEqual([second.grant])
      })

      it('count once also when many calls put them at once', async () => {
        const grant = { ...grantOf(userId, 'gift'), bytes: 10 }
        const calls = await Promise.all(Array.from({ length: 10 }, () => users.putGrant(grant)))
        expect(calls.filter(({ created }) => created)).toHaveLength(1)
        expect((await readUsage(harness.ledger, userId))?.capacity).toBe(110)
      })

      it('are gone once revoked, and new when they come back', async () => {
        const grant = { ...grantOf(userId, 'gift'), bytes: 10 }
        await users.putGrant(grant)
        await users.revokeGrant(grant)
        await users.revokeGrant(grant)
        await users.revokeGrant(grantOf(userId, 'never'))
        expect(await users.listGrants({ userId })).toEqual([])
        expect((await readUsage(harness.ledger, userId))?.capacity).toBe(100)
        expect((await users.putGrant(grant)).created).toBe(true)
        expect((await readUsage(harness.ledger, userId))?.capacity).toBe(110)
      })

      it('are listed by source and reference, or of one source alone', async () => {
        for (const [source, reference] of [
          ['b', '1'],
          ['a', '2'],
          ['a', '10'],
          ['B', '1'],
        ] as const) {
          await users.putGrant({ ...grantOf(userId, reference), source })
        }
        const all = await users.listGrants({ userId })
        expect(all.map(({ source, reference }) => source + reference)).toEqual([
          'B1',
          'a10',
          'a2',
          'b1',
        ])
        expect(await users.listGrants({ userId, source: 'a' })).toEqual(all.slice(1, 3))
      })
    })
  })
}

async function lastUses(
  users: UserStores,
  userId: UserId,
): Promise<ReadonlyMap<string, number | undefined>> {
  const tokens = await users.listAccessTokens({ userId })
  return new Map(tokens.map(({ tokenId, lastUsedAt }) => [tokenId, lastUsedAt]))
}

function newId(): UserId {
  return parseUserId(randomUUID())
}
