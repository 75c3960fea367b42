import { array, assert, asyncProperty, infiniteStream, integer, nat, record } from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  FairSemaphore,
  type FairSemaphoreOptions,
  type Permit,
} from '../../../src/core/async/fair-semaphore.ts'

/** `granted` has the users who were served, in that order. */
function bed(permits: number, reserve?: FairSemaphoreOptions['reserve']) {
  const semaphore = new FairSemaphore({ permits, ...(reserve && { reserve }) })
  const granted: string[] = []
  const held: { readonly owner: string; readonly permit: Permit }[] = []
  return {
    semaphore,
    granted,
    /** Returns what withdraws the request. */
    request: (owner: string, permits: number): (() => void) => {
      const controller = new AbortController()
      const { signal } = controller
      const acquire = async (): Promise<void> => {
        const permit = await semaphore.acquire({ owner, permits, signal })
        granted.push(owner)
        held.push({ owner, permit })
      }
      acquire().catch(() => undefined)
      return () => controller.abort()
    },
    /** Releases the oldest permit, or that of a user. */
    release: async (of?: string): Promise<void> => {
      await settled()
      const at = held.findIndex(({ owner }) => of === undefined || owner === of)
      held.splice(at, 1)[0]?.permit.release()
      await settled()
    },
  }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await Promise.resolve()
}

describe('FairSemaphore', () => {
  it('hands out what is there, and no more', async () => {
    const { semaphore, request, granted } = bed(10)
    request('zed', 6)
    request('ann', 5)
    await settled()
    expect(granted).toEqual(['zed'])
    const { taken, waiting, lacking } = semaphore
    expect({ taken, waiting, lacking }).toEqual({ taken: 6, waiting: 1, lacking: 1 })
  })

  it('lets those who wait have what is released, in the order in which they came', async () => {
    const { semaphore, granted, request, release } = bed(10)
    for (const [user, permits] of [
      ['zed', 4],
      ['zed', 6],
      ['ann', 4],
      ['bob', 4],
    ] as const) {
      request(user, permits)
    }
    expect(semaphore.lacking).toBe(8)
    await release()
    expect(granted).toEqual(['zed', 'zed', 'ann'])
    await release()
    expect(granted).toEqual(['zed', 'zed', 'ann', 'bob'])
  })

  it('lets nobody overtake a larger request that waits, whether they wait or not', async () => {
    const { semaphore, request, granted } = bed(10)
    request('zed', 6)
    request('ann', 5)
    request('bob', 1)
    await settled()
    expect(granted).toEqual(['zed'])
    expect(semaphore.tryAcquire({ owner: 'zed', permits: 1 })).toBeUndefined()
  })

  it('forgets a request that is withdrawn, and serves those behind it', async () => {
    const { request, granted } = bed(10)
    request('zed', 6)
    const withdraw = request('ann', 5)
    request('bob', 1)
    withdraw()
    await settled()
    expect(granted).toEqual(['zed', 'bob'])
  })

  it('lets others go first when the first of a user is withdrawn', async () => {
    const { request, granted, release } = bed(1)
    request('zed', 1)
    const withdraw = request('crowd', 1)
    request('crowd', 1)
    request('ann', 1)
    withdraw()
    for (let gifts = 0; gifts < 2; gifts++) await release()
    expect(granted).toEqual(['zed', 'ann', 'crowd'])
  })

  it('serves users in turn, however many requests one has', async () => {
    const { request, granted, release } = bed(1)
    request('zed', 1)
    for (let requests = 0; requests < 5; requests++) request('crowd', 1)
    request('ann', 1)
    request('ann', 1)
    await release()
    request('bob', 1)
    for (let gifts = 0; gifts < 7; gifts++) await release()
    const others = ['crowd', 'ann', 'crowd', 'bob', 'ann']
    expect(granted).toEqual(['zed', ...others, 'crowd', 'crowd', 'crowd'])
  })

  it('serves first who holds least', async () => {
    const { request, granted, release } = bed(4)
    for (let requests = 0; requests < 8; requests++) request('crowd', 1)
    request('ann', 1)
    request('ann', 1)
    request('ann', 1)
    for (let gifts = 0; gifts < 3; gifts++) await release('crowd')
    expect(granted).toEqual(['crowd', 'crowd', 'crowd', 'crowd', 'ann', 'ann', 'crowd'])
  })

  it('serves a small request of a user who has little from its reserve, though others wait', async () => {
    const { semaphore, request, granted, release } = bed(10, { permits: 8, largest: 2 })
    request('zed', 10)
    request('ann', 3)
    request('bob', 2)
    await settled()
    expect(granted).toEqual(['zed', 'bob'])
    expect([semaphore.taken, semaphore.waiting]).toEqual([12, 1])
    await release('bob')
    expect(semaphore.taken).toBe(10)
  })

  it('serves those who wait also from what its reserve has again', async () => {
    const { semaphore, request, granted, release } = bed(10, { permits: 3, largest: 2 })
    request('zed', 10)
    request('ann', 2)
    request('ann', 2)
    request('bob', 2)
    await release('ann')
    expect(granted).toEqual(['zed', 'ann', 'ann'])
    await release('ann')
    expect(granted).toEqual(['zed', 'ann', 'ann', 'bob'])
    expect(semaphore.taken).toBe(12)
  })

  it('serves a large request in spite of many small ones of others', async () => {
    const { request, granted, release } = bed(128, { permits: 32, largest: 2 })
    const users = Array.from({ length: 20 }, (_, at) => `crowd-${at}`)
    for (let rounds = 0; rounds < 60; rounds++) for (const user of users) request(user, 1)
    request('ann', 8)
    for (let gifts = 0; !granted.includes('ann'); gifts++) {
      expect(gifts).toBeLessThan(100)
      // Whoever releases asks for as much again.
      const user = users[gifts % users.length] ?? ''
      await release(user)
      request(user, 1)
    }
  })

  it('gives a user half as much of its reserve as it has left', async () => {
    const { semaphore, request } = bed(1, { permits: 12, largest: 1 })
    request('zed', 1)
    for (let requests = 0; requests < 12; requests++) request('ann', 1)
    expect(semaphore.taken - 1).toBe(4)
  })

  it('has some of its reserve left for one more beside twenty who take all they can', async () => {
    const { semaphore, request } = bed(1, { permits: 32, largest: 1 })
    request('zed', 1)
    const users = Array.from({ length: 20 }, (_, at) => `greedy-${at}`)
    for (let rounds = 0; rounds < 100; rounds++) for (const user of users) request(user, 1)
    expect(semaphore.taken - 1).toBe(30)
    expect(semaphore.tryAcquire({ owner: 'ann', permits: 1 })).toBeDefined()
  })

  it('serves no more from its reserve at once than it may, nor more than there is', () => {
    const { semaphore } = bed(0, { permits: 4, largest: 3 })
    expect(semaphore.tryAcquire({ owner: 'ann', permits: 4 })).toBeUndefined()
    const permit = semaphore.tryAcquire({ owner: 'ann', permits: 3 })
    expect(permit).toBeDefined()
    expect(semaphore.tryAcquire({ owner: 'bob', permits: 2 })).toBeUndefined()
    permit?.release()
    expect(semaphore.tryAcquire({ owner: 'bob', permits: 2 })).toBeDefined()
  })

  it('tells for how long one has been the first in line', async () => {
    const { semaphore, request } = bed(1)
    request('zed', 1)
    const withdraw = request('ann', 1)
    request('bob', 1)
    for (let ticks = 0; ticks < 3; ticks++) semaphore.tick(100)
    expect(semaphore.first).toMatchObject({ owner: 'ann', firstMs: 300 })
    withdraw()
    expect(semaphore.first).toMatchObject({ owner: 'bob', firstMs: 0 })
  })

  it('serves thousands who release at once, in their order, and not one inside another', () => {
    const { semaphore } = bed(1)
    const first = semaphore.tryAcquire({ owner: 'zed', permits: 1 })
    const order = Array.from({ length: 20_000 }, (_, at) => at)
    const granted: number[] = []
    for (const at of order) {
      const take = (permit: Permit): void => {
        granted.push(at)
        permit.release()
      }
      semaphore.acquireWith({ owner: 'ann', permits: 1 }, take, () => expect.fail())
    }
    expect(granted).toEqual([])
    first?.release()
    expect(granted).toEqual(order)
    expect(semaphore.taken).toBe(0)
  })

  it('lets an owner hold so much, in call order, and others go first meanwhile', async () => {
    const semaphore = new FairSemaphore({ permits: Infinity, perOwner: 2 })
    const begun: string[] = []
    const begin = (owner: string, name: string) => {
      const work = Promise.withResolvers<string>()
      const done = semaphore.run({ owner }, () => {
        begun.push(name)
        return work.promise
      })
      return { done, end: () => work.resolve(name), fail: () => work.reject(new Error('no')) }
    }
    const [first, second] = ['a1', 'a2', 'a3', 'a4'].map((name) => begin('ann', name))
    begin('bob', 'b1')
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    second?.end()
    expect(await second?.done).toBe('a2')
    await settled()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    first?.fail()
    await expect(first?.done).rejects.toThrow('no')
    await settled()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  it('is not waited for longer than asked, and serves the next one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const semaphore = new FairSemaphore({ permits: 1 })
    const first = await semaphore.acquire({ owner: 'zed' })
    const late = { ms: 1_000, error: () => new Error('late') }
    const refused = semaphore.acquire({ owner: 'ann', late }).catch((error: unknown) => error)
    const last = semaphore.acquire({ owner: 'ann' })
    await vi.advanceTimersByTimeAsync(999)
    expect(semaphore.waitingOf('ann')).toBe(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(await refused).toMatchObject({ message: 'late' })
    first.release()
    expect(await last).toBeDefined()
  })

  it('serves every request in the end, and hands out no more than there is (property)', () => {
    const plan = record({
      permits: integer({ min: 8, max: 64 }),
      reserve: record({ permits: nat(16), largest: nat(8) }),
      requests: array(integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 40 }),
      choices: infiniteStream(nat()),
    })
    return assert(
      asyncProperty(plan, async ({ permits, reserve, requests, choices }) => {
        const semaphore = new FairSemaphore({ permits, reserve })
        const held: { readonly permit: Permit; readonly wanted: number }[] = []
        let left = requests.length
        for (const [at, wanted] of requests.entries()) {
          const signal = new AbortController().signal
          const asked = { owner: `user-${at % 3}`, permits: wanted, signal }
          void semaphore.acquire(asked).then((permit) => held.push({ permit, wanted }))
        }
        for (; left > 0; left--) {
          await settled()
          const sum = held.reduce((total, each) => total + each.wanted, 0)
          expect(semaphore.taken).toBe(sum)
          expect(sum).toBeLessThanOrEqual(permits + reserve.permits)
          expect(held.length).toBeGreaterThan(0)
          held.splice(Number(choices.next().value) % held.length, 1)[0]?.permit.release()
        }
        expect([semaphore.taken, semaphore.waiting]).toEqual([0, 0])
      }),
    )
  })
})
