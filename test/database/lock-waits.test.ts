import { describe, expect, it } from 'vitest'
import { createLockWaits } from '../../src/database/lock-waits.ts'
import type { Lane } from '../../src/database/repeats.ts'

/** How many of a hundred run at once. */
async function widthOf(lane: Lane): Promise<number> {
  let running = 0
  const end = Promise.withResolvers<void>()
  const all = Array.from({ length: 100 }, () =>
    lane(async () => {
      running += 1
      await end.promise
    }, 60_000),
  )
  await new Promise(setImmediate)
  const width = running
  end.resolve()
  await Promise.all(all)
  return width
}

describe('what can wait for locks', () => {
  it.each([
    [10, 8, 2],
    [5, 3, 1],
    [4, 2, 1],
    [1, 1, 1],
  ])(
    'a pool of %i connections has %i that may wait for locks, and %i once a lock was taken',
    async (limit, may, does) => {
      const { mayWait, waits } = createLockWaits(limit)
      expect([await widthOf(mayWait('ann')), await widthOf(waits('ann'))]).toEqual([may, does])
    },
  )

  it('is refused after the time that it is given', async () => {
    const { waits } = createLockWaits(1)
    const end = Promise.withResolvers<void>()
    const lane = waits('ann')
    const first = lane(() => end.promise, 60_000)
    await expect(lane(() => Promise.resolve(), 1)).rejects.toMatchObject({ code: 'unavailable' })
    end.resolve()
    await first
  })
})
