import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import type { ChangePosition } from '../../../src/core/changes/change.ts'
import type { RecordedChange } from '../../../src/core/changes/change-ledger.ts'
import { createFeed, type FollowFeed } from '../../../src/core/changes/feed.ts'
import { MAX_WATCHES } from '../../../src/core/changes/watches.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import { outcomeOf } from '../ledger/fixture.ts'
import { authorized } from '../../support/caller.ts'

const NEVER_MS = 1_000_000
const BEGINNING = { sequence: 0, at: 0 }
const ANN = parseUserId('ann')
const BOB = parseUserId('bob')

/** A ledger in memory, and how often each of its methods was called. */
function bed(options: { readonly pollMs?: number; readonly reverifyMs?: number } = {}) {
  const rows = new Map<UserId, RecordedChange[]>()
  const calls = { reads: 0, polls: 0 }
  let beforeRead = async (): Promise<void> => undefined
  const of = (userId: UserId): RecordedChange[] => {
    const known = rows.get(userId) ?? []
    rows.set(userId, known)
    return known
  }
  const latestOf = (userId: UserId) => of(userId).at(-1) ?? BEGINNING
  const feed = createFeed({
    pollMs: NEVER_MS,
    ...options,
    ledger: {
      async readChanges({ userId, after, limit }) {
        calls.reads += 1
        const changes = of(userId).filter(({ sequence }) => sequence > after)
        const latest = latestOf(userId)
        await beforeRead()
        return { latest, changes: changes.slice(0, limit) }
      },
      latestChange: async ({ userId }) => latestOf(userId),
      async latestSequences(userIds) {
        calls.polls += 1
        return new Map(userIds.map((userId) => [userId, latestOf(userId).sequence]))
      },
      findAccount: async () => undefined,
    },
  })
  const commit = (userId: UserId): void => {
    const { sequence, at } = latestOf(userId)
    const file = {
      name: parseFileName('a'),
      version: createVersion(),
      size: 1,
      sha256: 'f'.repeat(64),
      visibility: 'private',
      mediaType: null,
      deviceId: null,
    } as const
    const place = { sequence: sequence + 1, at: at + 5, previousAt: at }
    of(userId).push({ type: 'file.created', file, ...place })
  }
  const ending = new AbortController()
  const follow = (userId: UserId, more: Partial<FollowFeed> = {}) =>
    feed.follow({
      subject: authorized({ userId, userCreatedAt: 1 }),
      after: BEGINNING,
      limit: 10,
      quietMs: NEVER_MS,
      maxMs: NEVER_MS,
      ends: [ending.signal],
      inTurn: (read) => read(),
      ...more,
    })
  const onRead = (run: () => Promise<void>): void => void (beforeRead = run)
  return { feed, calls, commit, follow, ending, onRead }
}

async function sequencesOf(page: Promise<IteratorResult<readonly ChangePosition[], void>>) {
  const { value } = await page
  return value?.map(({ sequence }) => sequence)
}

describe('those who follow a user', () => {
  it('get what there is at once, or an empty page', async () => {
    const { commit, follow } = bed()
    expect(await sequencesOf(follow(ANN).next())).toEqual([])
    commit(ANN)
    expect(await sequencesOf(follow(ANN).next())).toEqual([1])
  })

  it('are woken by a commit of this process, and those of no other user', async () => {
    const { feed, calls, commit, follow } = bed()
    const [pages, others] = [follow(ANN), follow(BOB)]
    await Promise.all([pages.next(), others.next()])
    const next = sequencesOf(pages.next())
    void others.next()
    commit(ANN)
    feed.wake(ANN)
    expect(await next).toEqual([1])
    expect(calls.reads).toBe(3)
  })

  it('are woken by a commit that comes while they read', async () => {
    const { feed, commit, follow, onRead } = bed()
    const pages = follow(ANN)
    await pages.next()
    const next = sequencesOf(pages.next())
    let isFirst = true
    onRead(async () => {
      if (!isFirst) return
      isFirst = false
      commit(ANN)
      feed.wake(ANN)
    })
    feed.wake(ANN)
    expect(await next).toEqual([1])
  })

  it('are woken by the poll, which one statement makes for all and only while somebody follows', async () => {
    const { calls, commit, follow, ending } = bed({ pollMs: 5 })
    const streams = [follow(ANN), follow(ANN), follow(BOB)]
    for (const pages of streams) await pages.next()
    const nexts = streams.map((pages) => sequencesOf(pages.next()))
    commit(ANN)
    commit(BOB)
    expect(await Promise.all(nexts)).toEqual([[1], [1], [1]])
    ending.abort()
    for (const pages of streams) expect((await pages.next()).done).toBe(true)
    const polls = calls.polls
    expect(calls.reads).toBeLessThan(10)
    await new Promise((resolve) => void setTimeout(resolve, 50))
    expect(calls.polls).toBeLessThanOrEqual(polls + 1)
  })

  it('read nothing in a quiet period, but hear of its end', async () => {
    const { calls, follow } = bed()
    const pages = follow(ANN, { quietMs: 5 })
    for (let periods = 0; periods < 4; periods += 1) {
      expect(await sequencesOf(pages.next())).toEqual([])
    }
    expect(calls.reads).toBe(1)
  })

  it('get a long backlog page by page without waiting', async () => {
    const { commit, follow } = bed()
    for (let changes = 0; changes < 25; changes += 1) commit(ANN)
    const pages = follow(ANN)
    const sizes: (number | undefined)[] = []
    for (let page = 0; page < 3; page += 1) sizes.push((await sequencesOf(pages.next()))?.length)
    expect(sizes).toEqual([10, 10, 5])
  })

  it('are held to their end also while there is a backlog', async () => {
    const { commit, follow, ending } = bed()
    for (let changes = 0; changes < 25; changes += 1) commit(ANN)
    const pages = follow(ANN)
    expect(await sequencesOf(pages.next())).toHaveLength(10)
    ending.abort()
    expect((await pages.next()).done).toBe(true)
  })

  it('end after their time, of which nothing is left when they end sooner', async () => {
    vi.useFakeTimers()
    try {
      const { follow, ending } = bed()
      const [first, second] = [follow(ANN, { maxMs: 50 }), follow(ANN, { maxMs: 50 })]
      for (const pages of [first, second]) await pages.next()
      await second.return()
      expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1)
      const end = first.next()
      await vi.advanceTimersByTimeAsync(50)
      expect((await end).done).toBe(true)
      expect(getEventListeners(ending.signal, 'abort')).toHaveLength(0)
      // The poll for the changes of other processes.
      expect(vi.getTimerCount()).toBe(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('are limited in number, and make room when they leave', async () => {
    const { follow } = bed()
    const streams = Array.from({ length: MAX_WATCHES }, () => follow(ANN))
    for (const pages of streams) await pages.next()
    expect(await outcomeOf(follow(ANN).next())).toBe('too_many_requests')
    expect(await outcomeOf(follow(BOB).next())).toBe('ok')
    await streams[0]?.return()
    expect(await outcomeOf(follow(ANN).next())).toBe('ok')
  })

  it('end when the subject is no longer authorized, with the reason', async () => {
    const { follow } = bed({ reverifyMs: 5 })
    const reverify = async (): Promise<void> => {
      throw new Error('revoked')
    }
    const subject = { ...authorized({ userId: ANN, userCreatedAt: 1 }), reverify }
    const pages = follow(ANN, { subject })
    await pages.next()
    await expect(pages.next()).rejects.toThrow('revoked')
  })
})
