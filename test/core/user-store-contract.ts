import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseUserId, type UserId } from '../../src/core/user-id.ts'
import type { UserStore } from '../../src/core/user-store.ts'
import { count, grantOf, type LedgerHarness, outcomeOf } from './ledger-fixture.ts'

/** The rules of the port `UserStore`. */
export function userStoreContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`user store on ${name}`, () => {
    let harness: LedgerHarness
    let users: UserStore
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
        expect(await harness.ledger.usage(id)).toMatchObject({ used: 0, fileCount: 0 })
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

      it('that are deleted can be deleted again but not otherwise changed', async () => {
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
              users.listAccessTokens(id),
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
        const added = await users.addAccessToken({ ...token, expiresInMs: 300 })
        expect(added).toEqual({
          tokenId: token.tokenId,
          userId,
          label: 'a label',
          createdAt: added.createdAt,
          expiresAt: added.createdAt + 300,
          revokedAt: undefined,
          lastUsedAt: undefined,
        })
        expect(await users.findAccessTokenUser(token.sha256)).toMatchObject({ userId })
        await harness.advance(320)
        expect(await users.findAccessTokenUser(token.sha256)).toBeUndefined()
        expect(await users.listAccessTokens(userId)).toEqual([added])
      })

      it('are refused once revoked, and revoking again is no error', async () => {
        const token = tokenOf(userId)
        const kept = tokenOf(userId)
        await users.addAccessToken(token)
        await users.addAccessToken(kept)
        await users.revokeAccessToken(token)
        const first = (await users.listAccessTokens(userId)).find(
          ({ tokenId }) => tokenId === token.tokenId,
        )
        expect(first?.revokedAt).toBeDefined()
        await harness.advance(3)
        await users.revokeAccessToken(token)
        expect(await users.listAccessTokens(userId)).toContainEqual(first)
        expect(await users.findAccessTokenUser(token.sha256)).toBeUndefined()
        expect(await users.findAccessTokenUser(kept.sha256)).toMatchObject({ userId })
      })

      it("cannot be revoked by another's user id, or when there is none", async () => {
        const token = tokenOf(userId)
        await users.addAccessToken(token)
        const stranger = newId()
        await users.createUser(stranger)
        const stolen = users.revokeAccessToken({ userId: stranger, tokenId: token.tokenId })
        expect(await outcomeOf(stolen)).toBe('not_found')
        expect(await users.findAccessTokenUser(token.sha256)).toMatchObject({ userId })
      })

      it('of a suspended user say so, of a deleted or unknown one they say nothing', async () => {
        const token = tokenOf(userId)
        await users.addAccessToken(token)
        await users.setUserStatus(userId, 'suspended')
        expect(await users.findAccessTokenUser(token.sha256)).toMatchObject({ status: 'suspended' })
        await users.deleteUser(userId)
        expect(await users.findAccessTokenUser(token.sha256)).toBeUndefined()
        expect(await users.findAccessTokenUser(tokenOf(userId).sha256)).toBeUndefined()
      })

      it('are listed oldest first', async () => {
        const tokens = [tokenOf(userId), tokenOf(userId), tokenOf(userId)]
        for (const token of tokens) {
          await users.addAccessToken(token)
          await harness.advance(2)
        }
        const listed = (await users.listAccessTokens(userId)).map(({ tokenId }) => tokenId)
        expect(listed).toEqual(tokens.map(({ tokenId }) => tokenId))
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
        expect((await harness.ledger.usage(userId))?.capacity).toBe(120)
        expect(await users.listGrants({ userId })).toEqual([second.grant])
      })

      it('count once also when many calls put them at once', async () => {
        const grant = { ...grantOf(userId, 'gift'), bytes: 10 }
        const calls = await Promise.all(Array.from({ length: 10 }, () => users.putGrant(grant)))
        expect(calls.filter(({ created }) => created)).toHaveLength(1)
        expect((await harness.ledger.usage(userId))?.capacity).toBe(110)
      })

      it('are gone once revoked, and new when they come back', async () => {
        const grant = { ...grantOf(userId, 'gift'), bytes: 10 }
        await users.putGrant(grant)
        await users.revokeGrant(grant)
        await users.revokeGrant(grant)
        await users.revokeGrant(grantOf(userId, 'never'))
        expect(await users.listGrants({ userId })).toEqual([])
        expect((await harness.ledger.usage(userId))?.capacity).toBe(100)
        expect((await users.putGrant(grant)).created).toBe(true)
        expect((await harness.ledger.usage(userId))?.capacity).toBe(110)
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

function newId(): UserId {
  return parseUserId(randomUUID())
}

function tokenOf(userId: UserId): Parameters<UserStore['addAccessToken']>[0] {
  const tokenId = randomUUID()
  const sha256 = randomUUID().replaceAll('-', '').repeat(2)
  return { userId, tokenId, sha256, label: 'a label', expiresInMs: undefined }
}
