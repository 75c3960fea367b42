import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewAccessToken, TokenMaker } from '../../../src/core/auth/access-token-store.ts'
import { completeScope } from '../../../src/core/auth/scope.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import type { User } from '../../../src/core/users/user-store.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { type LedgerHarness, outcomeOf } from '../ledger/fixture.ts'
import { newLink } from '../ledger/new-link.ts'
import { jwtMaker, makerOf, tokenOf } from './access-tokens.ts'

/** The rules of the port `AccessTokenStore` for tokens that tokens make. */
export function madeTokensContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`tokens made with tokens on ${name}`, () => {
    let harness: LedgerHarness
    let users: UserStores
    let user: User
    beforeAll(async () => {
      harness = await open()
      ;({ users } = harness)
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      ;({ user } = await users.createUser(parseUserId(randomUUID())))
    })

    const add = async (terms: Partial<NewAccessToken> = {}): Promise<NewAccessToken> => {
      const token = { ...tokenOf(user.userId), ...terms }
      await users.addAccessToken(token)
      return token
    }
    const madeWith = ({ tokenId }: NewAccessToken, terms: Partial<NewAccessToken> = {}) =>
      add({ parent: makerOf(tokenId), ...terms })
    const isValid = async ({ sha256 }: NewAccessToken): Promise<boolean> =>
      (await users.findAccessTokenUser(sha256)) !== undefined
    const isKept = async ({ tokenId }: NewAccessToken): Promise<boolean> =>
      (await users.listAccessTokens(user)).some((kept) => kept.tokenId === tokenId)
    const revoke = ({ tokenId }: NewAccessToken) =>
      users.revokeAccessToken({ userId: user.userId, tokenId })
    /** So that only ended tokens are kept of which something lives that they have made. */
    const endMany = async () => {
      await harness.advance(20)
      const ending = []
      for (let made = 0; made < 101; made += 1) ending.push(await add())
      for (const token of ending) await revoke(token)
      await harness.advance(2)
      await add()
    }
    const link = async (createdBy: TokenMaker): Promise<string> => {
      const link = newLink(callerOf(user), { createdBy })
      await harness.ledger.addLink(link)
      return link.sha256
    }

    it('a token ends with its maker, if that has a scope', async () => {
      const scope = completeScope({})
      const { tokenId } = await add({ scope, expiresInMs: 3_600_000 })
      const { expiresAt } = (await users.listAccessTokens(user))[0] ?? {}
      const child = { ...tokenOf(user.userId), parent: makerOf(tokenId, { isScoped: true }) }
      expect(await users.addAccessToken(child)).toMatchObject({ expiresAt, parentId: tokenId })
      const longer = { ...child, ...tokenOf(user.userId), parent: child.parent }
      const asked = users.addAccessToken({ ...longer, expiresInMs: 3_600_001 })
      expect(await outcomeOf(asked)).toBe('scope_insufficient')
    })

    it('a token lives as long as it says, if its maker has no scope', async () => {
      const maker = await add({ expiresInMs: 10 })
      const lasting = await madeWith(maker)
      const day = await madeWith(maker, { expiresInMs: 86_400_000 })
      const ofJwt = await add({ parent: jwtMaker('a') })
      await harness.advance(20)
      expect(await isValid(maker)).toBe(false)
      for (const made of [lasting, day, ofJwt]) expect(await isValid(made)).toBe(true)
      const refused = users.addAccessToken({
        ...tokenOf(user.userId),
        parent: makerOf(maker.tokenId),
      })
      expect(await outcomeOf(refused)).toBe('access_token_invalid')
      await revoke(maker)
      for (const made of [lasting, day]) expect(await isValid(made)).toBe(false)
      expect(await isValid(ofJwt)).toBe(true)
    })

    it('a token lives no longer than the longest life that is permitted', async () => {
      const maker = await add()
      const lifeOf = async (terms: Partial<NewAccessToken>) => {
        const token = { ...tokenOf(user.userId), maxLifeMs: 5_000, ...terms }
        const { createdAt, expiresAt = Infinity } = await users.addAccessToken(token)
        return expiresAt - createdAt
      }
      const parent = makerOf(maker.tokenId)
      expect(await lifeOf({ parent })).toBe(5_000)
      expect(await lifeOf({ parent: jwtMaker('a') })).toBe(5_000)
      expect(await lifeOf({ parent, expiresInMs: 4_000 })).toBe(4_000)
      const scoped = { parent: { ...jwtMaker('a'), isScoped: true } }
      expect(await lifeOf(scoped)).toBe(1_000)
      expect(await lifeOf({ maxLifeMs: undefined, parent })).toBe(Infinity)
    })

    it('an ended token is kept while a token or a link lives that it has made', async () => {
      const [ofToken, ofLink, ofNone] = [
        await add({ expiresInMs: 10 }),
        await add({ expiresInMs: 10 }),
        await add({ expiresInMs: 10 }),
      ]
      const child = await madeWith(ofToken)
      const sha256 = await link(makerOf(ofLink.tokenId))
      await revoke(await madeWith(ofNone))
      await endMany()
      expect(await isKept(ofNone)).toBe(false)
      expect(await isValid(child)).toBe(true)
      await revoke(ofToken)
      expect(await isValid(child)).toBe(false)
      expect(await harness.ledger.findLink(sha256)).toBeDefined()
      await revoke(ofLink)
      expect(await harness.ledger.findLink(sha256)).toBeUndefined()
      // The next to be added after they have ended.
      await endMany()
      for (const gone of [ofToken, ofLink]) expect(await isKept(gone)).toBe(false)
    })

    it('a token is revoked with the maker of its maker, also when that is long forgotten', async () => {
      const maker = await add({ expiresInMs: 10_000 })
      const first = await madeWith(maker, { expiresInMs: 10 })
      const second = await madeWith(first, { expiresInMs: 10 })
      const third = await madeWith(second, { expiresInMs: 10 })
      const last = await madeWith(third)
      await endMany()
      for (const gone of [first, second]) expect(await isKept(gone)).toBe(false)
      const kept = await users.listAccessTokens({ ...user, parentId: maker.tokenId })
      expect(kept.map(({ tokenId }) => tokenId)).toEqual([third.tokenId])
      expect(await isValid(last)).toBe(true)
      await revoke(maker)
      expect(await isValid(last)).toBe(false)
    })

    it('made while their parent is being revoked are revoked or refused', async () => {
      const parent = await add()
      const children = Array.from({ length: 8 }, () => ({
        ...tokenOf(user.userId),
        parent: makerOf(parent.tokenId),
      }))
      await Promise.all([
        ...children.slice(0, 4).map((child) => outcomeOf(users.addAccessToken(child))),
        revoke(parent),
        ...children.slice(4).map((child) => outcomeOf(users.addAccessToken(child))),
      ])
      for (const child of children) expect(await isValid(child)).toBe(false)
    })

    it('tokens and links that JWTs have made end for good with a suspension, and so do those made with them', async () => {
      const other = await add()
      const ofOther = await madeWith(other)
      const made = await add({ parent: jwtMaker('a') })
      const short = await madeWith(made, { expiresInMs: 10 })
      const between = await madeWith(short, { expiresInMs: 10 })
      const grandchild = await madeWith(between)
      const links = {
        ofOther: await link(makerOf(other.tokenId)),
        ofJwt: await link(jwtMaker('b')),
        ofShort: await link(makerOf(made.tokenId)),
      }
      await endMany()
      expect(await isKept(short)).toBe(false)
      const all = [other, ofOther, made, grandchild]
      for (const token of all) expect(await isValid(token)).toBe(true)
      await users.setUserStatus(user.userId, 'suspended')
      await users.setUserStatus(user.userId, 'active')
      expect(await Promise.all(all.map(isValid))).toEqual([true, true, false, false])
      expect(await harness.ledger.findLink(links.ofOther)).toBeDefined()
      for (const gone of [links.ofJwt, links.ofShort])
        expect(await harness.ledger.findLink(gone)).toBeUndefined()
      // An activation ends nothing.
      const again = await add({ parent: jwtMaker('a') })
      await users.setUserStatus(user.userId, 'active')
      expect(await isValid(again)).toBe(true)
    })

    it('tokens that JWTs make during a suspension are ended by it or refused', async () => {
      const children = Array.from({ length: 8 }, (_, at) => ({
        ...tokenOf(user.userId),
        parent: jwtMaker(String(at)),
      }))
      await Promise.all([
        ...children.slice(0, 4).map((child) => outcomeOf(users.addAccessToken(child))),
        users.setUserStatus(user.userId, 'suspended'),
        ...children.slice(4).map((child) => outcomeOf(users.addAccessToken(child))),
      ])
      const late = { ...tokenOf(user.userId), parent: jwtMaker('b') }
      expect(await outcomeOf(users.addAccessToken(late))).toBe('user_suspended')
      await users.setUserStatus(user.userId, 'active')
      for (const child of children) expect(await isValid(child)).toBe(false)
    })
  })
}
