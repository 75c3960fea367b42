import { describe, expect, it } from 'vitest'
import { type TokenCache, createTokenCache } from '../../../src/core/auth/token-verification.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { AccessTokenUser } from '../../../src/core/auth/access-token-store.ts'
import { outage } from '../../support/faults/faults.ts'

const alice = parseUserId('alice')
const bob = parseUserId('bob')

/** A cache of 5 s and ten answers, on a clock that a test moves. */
function openCache(options: { maxAgeMs?: number } = {}) {
  const clock = { now: 1_000_000 }
  const { maxAgeMs = 5000 } = options
  const cache = createTokenCache({ maxAgeMs, maxEntries: 10, clock: () => clock.now })
  let lookups = 0

  /** Asks for a token; a lookup that it causes is answered with `answer`. */
  function find(sha256: string, answer: Answer = { userId: alice }) {
    return cache.find(sha256, async () => {
      lookups += 1
      return await foundOf(answer)
    })
  }
  return { cache, clock, find, lookups: () => lookups }
}

type Answer =
  | Promise<AccessTokenUser | undefined>
  | { readonly userId: typeof alice; readonly expiresInMs?: number }

function foundOf(answer: Answer): Promise<AccessTokenUser | undefined> {
  if (answer instanceof Promise) return answer
  const { userId, expiresInMs } = answer
  const user = { userId, status: 'active', createdAt: 0 } as const
  return Promise.resolve({
    user,
    expiresInMs,
    tokenId: 'token',
    scope: undefined,
    isJwt: false,
    credential: undefined,
  })
}

/** A lookup that is under way until the test answers it. */
function startLookup(cache: TokenCache, sha256: string) {
  const { promise, resolve } = Promise.withResolvers<AccessTokenUser | undefined>()
  const user = cache.find(sha256, () => promise)
  return { user, answer: async (answer: Answer) => resolve(await foundOf(answer)) }
}

describe('what was found', () => {
  it('is answered again for 5 s from when the lookup began, and not a millisecond longer', async () => {
    const { cache, clock, find, lookups } = openCache()
    const lookup = startLookup(cache, 'a')
    clock.now += 1000
    await lookup.answer({ userId: alice })
    await lookup.user
    clock.now += 3999
    expect(await find('a')).toMatchObject({ user: { userId: alice } })
    expect(lookups()).toBe(0)
    clock.now += 1
    await find('a')
    expect(lookups()).toBe(1)
  })

  it('is not answered longer for being asked for often', async () => {
    const { clock, find, lookups } = openCache()
    for (let asked = 0; asked < 10; asked++) {
      await find('a')
      clock.now += 1000
    }
    expect(lookups()).toBe(2)
  })

  it('is answered only until the token expires', async () => {
    const { clock, find, lookups } = openCache()
    await find('a', { userId: alice, expiresInMs: 2000 })
    clock.now += 1999
    await find('a')
    expect(lookups()).toBe(1)
    clock.now += 1
    expect(await find('a', Promise.resolve(undefined))).toBeUndefined()
  })

  it('is answered for that token alone', async () => {
    const { find } = openCache()
    await find('a')
    expect(await find('b', { userId: bob })).toMatchObject({ user: { userId: bob } })
  })

  it('is never answered again without a time to keep it', async () => {
    const { find, lookups } = openCache({ maxAgeMs: 0 })
    await Promise.all([find('a'), find('a')])
    await find('a')
    expect(lookups()).toBe(3)
  })

  it('goes, the oldest first, when there is more than there is room for', async () => {
    const { find, lookups } = openCache()
    for (let at = 0; at < 11; at++) await find(`${at}`)
    for (let at = 1; at < 11; at++) await find(`${at}`)
    expect(lookups()).toBe(11)
    await find('0')
    expect(lookups()).toBe(12)
  })
})

describe('what was found again', () => {
  it('is as new as if it had never been found before', async () => {
    const { clock, find, lookups } = openCache()
    await find('a')
    clock.now += 3000
    for (let at = 0; at < 9; at++) await find(`${at}`)
    clock.now += 2000
    await find('a')
    await find('one too many')
    expect(lookups()).toBe(12)
    await find('a')
    expect(lookups()).toBe(12)
  })
})

describe('what was not found', () => {
  it('is looked for every time', async () => {
    const { find, lookups } = openCache()
    expect(await find('a', Promise.resolve(undefined))).toBeUndefined()
    expect(await find('a')).toMatchObject({ user: { userId: alice } })
    expect(lookups()).toBe(2)
  })

  it('takes no room from what was, however much there is of it', async () => {
    const { find, lookups } = openCache()
    await find('good')
    for (let at = 0; at < 100; at++) await find(`${at}`, Promise.resolve(undefined))
    await find('good')
    expect(lookups()).toBe(101)
  })
})

describe('a lookup', () => {
  it('is shared by those who ask meanwhile', async () => {
    const { cache, find, lookups } = openCache()
    const lookup = startLookup(cache, 'a')
    const others = [find('a', { userId: bob }), find('a', { userId: bob })]
    await lookup.answer({ userId: alice })
    const users = await Promise.all([lookup.user, ...others])
    expect(users.map((found) => found?.user.userId)).toEqual([alice, alice, alice])
    expect(lookups()).toBe(0)
  })

  it('is not shared by who comes so late that its answer can be old', async () => {
    const { cache, clock, find } = openCache()
    const slow = startLookup(cache, 'a')
    clock.now += 5000
    expect(await find('a', { userId: bob })).toMatchObject({ user: { userId: bob } })
    await slow.answer({ userId: alice })
    await slow.user
    expect(await find('a')).toMatchObject({ user: { userId: bob } })
  })

  it('a failed lookup fails for all who share it, and the next one is another', async () => {
    const { find, lookups } = openCache()
    const failed = Promise.reject<undefined>(outage())
    const asked = await Promise.allSettled([find('a', failed), find('a', failed)])
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(lookups()).toBe(1)
    expect(await find('a')).toMatchObject({ user: { userId: alice } })
  })
})

describe('forgetUser', () => {
  it('forgets all tokens of the user and no other', async () => {
    const { cache, find, lookups } = openCache()
    await find('a1')
    await find('a2')
    await find('b', { userId: bob })
    cache.forgetUser(alice)
    expect(await find('a1', Promise.resolve(undefined))).toBeUndefined()
    expect(await find('a2', Promise.resolve(undefined))).toBeUndefined()
    expect(await find('b')).toMatchObject({ user: { userId: bob } })
    expect(lookups()).toBe(5)
  })

  it('keeps a lookup that began before from bringing back what it read', async () => {
    const { cache, find } = openCache()
    const early = startLookup(cache, 'a')
    cache.forgetUser(alice)
    await early.answer({ userId: alice })
    await early.user
    expect(await find('a', Promise.resolve(undefined))).toBeUndefined()
  })

  it('keeps who asks afterwards from joining a lookup that began before', async () => {
    const { cache, find } = openCache()
    const early = startLookup(cache, 'a')
    cache.forgetUser(alice)
    expect(await find('a', Promise.resolve(undefined))).toBeUndefined()
    await early.answer({ userId: alice })
    await early.user
    expect(await find('a', Promise.resolve(undefined))).toBeUndefined()
  })
})
