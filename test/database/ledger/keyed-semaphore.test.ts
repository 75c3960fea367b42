import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createKeyedSemaphore } from '../../../src/database/ledger/keyed-semaphore.ts'

const QUEUE_TIMEOUT_MS = 10_000

/** `begin` asks for a turn, and answers how to end it. */
function bed(atOnce: number) {
  const userSemaphore = createKeyedSemaphore({ atOnce, queueTimeoutMs: QUEUE_TIMEOUT_MS })
  const begun: string[] = []
  const begin = (userId: string, name: string) => {
    const work = Promise.withResolvers<string>()
    const done = userSemaphore(userId, () => {
      begun.push(name)
      return work.promise
    })
    return { done, end: () => work.resolve(name), fail: (error: Error) => work.reject(error) }
  }
  return { begun, begin }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('the turns of users', () => {
  it('are so many at a time for each user, in the order in which they were asked for', async () => {
    const { begun, begin } = bed(2)
    const ann = ['a1', 'a2', 'a3', 'a4'].map((name) => begin('ann', name))
    begin('bob', 'b1')
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    ann[1]?.end()
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    ann[0]?.end()
    expect(await ann[0]?.done).toBe('a1')
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  it('are left also by work that fails, with what it failed with', async () => {
    const { begun, begin } = bed(1)
    const first = begin('ann', 'a1')
    begin('ann', 'a2')
    first.fail(new Error('no'))
    await expect(first.done).rejects.toThrow('no')
    await turn()
    expect(begun).toEqual(['a1', 'a2'])
  })

  it('are not waited for without end, and go to the next one who waits', async () => {
    const { begun, begin } = bed(1)
    const first = begin('ann', 'a1')
    const late = begin('ann', 'a2')
    const refusal = late.done.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(QUEUE_TIMEOUT_MS - 1)
    begin('ann', 'a3')
    await vi.advanceTimersByTimeAsync(1)
    expect(await refusal).toMatchObject({ code: 'unavailable' })
    first.end()
    await turn()
    expect(begun).toEqual(['a1', 'a3'])
  })

  it('begin anew after a user had none', async () => {
    const { begun, begin } = bed(1)
    for (const name of ['a1', 'a2']) {
      const { done, end } = begin('ann', name)
      end()
      await done
    }
    expect(begun).toEqual(['a1', 'a2'])
  })
})
