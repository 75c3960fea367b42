import { afterAll, beforeAll, expect, it } from 'vitest'
import { search, searchCrashes } from './plan/search.ts'
import { Violation } from './model/violation.ts'
import { openStage, type Stage } from './world/stage.ts'
import type { Variant } from './world/world.ts'

/**
 * Random plans within which every planted bug must be found, if not by a crash in a scenario; from seed 1, so that the
 * number does not vary.
 */
const MAX_RUNS = 1_000

/** The checker finds each of these bugs. */
export function plantedSuite(bugs: Readonly<Record<string, Variant>>): void {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it.each(Object.entries(bugs))('finds a service that %s', async (name, variant) => {
    const goesOn = (runs: number): boolean => runs < MAX_RUNS
    const { runs, found } = await search({ stage, variant, firstSeed: 1, goesOn })
    const run = found?.run ?? (await searchCrashes({ stage, variant }))
    console.log(`${runs} runs until found: ${name}; ${String(run?.violation).split('\n')[0]}`)
    expect(run?.violation).toBeInstanceOf(Violation)
  })
}
