import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { describeFinding, planOf, search } from './plan/search.ts'
import { simulate } from './simulate.ts'
import { openStage } from './world/stage.ts'

export interface RandomSuite {
  /** How many seeds are played twice. */
  readonly replays: number
  /** How many random plans are played. */
  readonly runs: number
}

/** Random plans against the invariants; `npm run simulate` plays them for hours. */
export function randomSuite({ replays, runs }: RandomSuite): void {
  describe('the simulation', () => {
    it('replays a seed exactly, event by event', async () => {
      await using stage = await openStage()
      for (let seed = 1; seed <= replays; seed++) {
        const [first, second] = [
          await simulate(planOf(seed), { stage }),
          await whileOthersDraw(() => simulate(planOf(seed), { stage })),
        ]
        expect(second.log.join('\n')).toBe(first.log.join('\n'))
        expect(first.events).toBeGreaterThan(0)
      }
    })

    it('E14 G06 G07 R06 R07 R08 R20 R21 R29 finds no plan that breaks an invariant', async ({
      signal,
    }) => {
      await using stage = await openStage()
      const firstSeed = Math.floor(Math.random() * 2 ** 30)
      const goesOn = (count: number): boolean => count < runs && !signal.aborted
      const { found } = await search({ stage, firstSeed, goesOn })
      console.log(`${runs} random plans from seed ${firstSeed}`)
      expect(found === undefined ? 'no violation' : describeFinding(found)).toBe('no violation')
    })
  })
}

/** Draws random numbers outside the simulation meanwhile, as the test runner may. */
async function whileOthersDraw<T>(work: () => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const drawing = drawUntil(stop.signal)
  try {
    return await work()
  } finally {
    stop.abort()
    await drawing
  }
}

async function drawUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    Math.random()
    await setImmediate()
  }
}
