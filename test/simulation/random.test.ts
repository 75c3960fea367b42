import { expect, it } from 'vitest'
import { describeFinding, planOf, search } from './search.ts'
import { simulate } from './simulate.ts'
import { openStage } from './stage.ts'

/** How long random plans are played; `npm run simulate` plays on for hours. */
const SEARCH_MS = 60_000

it('replays a seed exactly, event by event', async () => {
  await using stage = await openStage()
  for (let seed = 1; seed <= 25; seed++) {
    const [first, second] = [
      await simulate(planOf(seed), { stage }),
      await simulate(planOf(seed), { stage }),
    ]
    expect(second.log.join('\n')).toBe(first.log.join('\n'))
    expect(first.events).toBeGreaterThan(0)
  }
}, 120_000)

it(
  'E14 G06 G07 finds no plan that breaks an invariant',
  async () => {
    await using stage = await openStage()
    const firstSeed = Math.floor(Math.random() * 2 ** 30)
    const endsAt = Date.now() + SEARCH_MS
    const { runs, found } = await search({ stage, firstSeed, goesOn: () => Date.now() < endsAt })
    console.log(`${runs} random plans from seed ${firstSeed}`)
    expect(runs).toBeGreaterThan(0)
    expect(found === undefined ? 'no violation' : describeFinding(found)).toBe('no violation')
  },
  SEARCH_MS + 120_000,
)
